/** Trying an installed Agent: choose it and one of its Skills, run it, see what comes back. */

import { useQuery } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { FlaskConicalOff } from "lucide-react"

import type { InstallationItem } from "@/api/contract.gen"
import { read, whole } from "@/api/queries"
import { Combobox } from "@/components/Combobox"
import { EmptyState } from "@/components/EmptyState"
import { Field } from "@/components/Field"
import { Loaded } from "@/components/Loaded"
import { Page } from "@/components/Page"
import { agentChoice, offered, skillChoice } from "@/domain/choice"
import { NothingOffered } from "@/domain/NothingOffered"
import type { PlaygroundSearch } from "@/features/playground/search"
import { Workbench } from "@/features/playground/Workbench"

const route = getRouteApi("/console/workspaces/$workspaceId/playground")

export function PlaygroundPage() {
  const { workspaceId } = route.useParams()
  // Read when the screen opens and not while one works: a change elsewhere must not take a running stream away.
  const installations = useQuery({
    ...whole("listInstallations", { path: { workspaceId }, query: {} }),
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
  return (
    <Page
      title="Playground"
      description={
        <>
          Invoke what is installed in{" "}
          <Link
            to="/workspaces/$workspaceId"
            params={{ workspaceId }}
            className="text-accent-strong underline underline-offset-2"
          >
            {workspaceId}
          </Link>
          .
        </>
      }
    >
      <Loaded query={installations} what="Installations">
        {(records) => <AgentChosen key={workspaceId} workspaceId={workspaceId} installations={records} />}
      </Loaded>
    </Page>
  )
}

interface AgentChosenProps {
  readonly workspaceId: string
  readonly installations: ReadonlyArray<InstallationItem>
}

function AgentChosen({ workspaceId, installations }: AgentChosenProps) {
  const { agent } = route.useSearch()
  const choice = agentChoice(installations, agent)
  const enabled = offered(installations)
  if (enabled.length === 0 && choice.kind !== "chosen")
    return <NothingOffered {...choice} workspaceId={workspaceId} />
  const chosen = choice.kind === "chosen" ? choice.installation : undefined
  // Whatever is chosen and however late its Card comes, the first field stays the same one: it keeps the focus.
  return (
    <div className="space-y-5">
      <div className="flex flex-wrap items-end gap-4">
        <AgentField enabled={enabled} chosen={chosen} />
        {chosen === undefined ? null : <SkillField installation={chosen} />}
      </div>
      {choice.kind === "chosen" ? (
        <SkillChosen
          key={choice.installation.installationId}
          workspaceId={workspaceId}
          installation={choice.installation}
          installations={enabled}
        />
      ) : (
        <NothingOffered {...choice} workspaceId={workspaceId} />
      )}
    </div>
  )
}

interface AgentFieldProps {
  readonly enabled: ReadonlyArray<InstallationItem>
  readonly chosen: InstallationItem | undefined
}

function AgentField({ enabled, chosen }: AgentFieldProps) {
  const navigate = route.useNavigate()
  return (
    <Field label="Agent" className="w-full sm:w-80">
      {(control) => (
        <Combobox
          ids={control}
          placeholder="Choose an Agent"
          value={chosen?.agentId}
          options={enabled.map(({ agentId, agentName, installedVersion }) => ({
            value: agentId,
            label: agentName,
            detail: `${agentId} ${installedVersion}`,
          }))}
          onChoose={(agent) =>
            void navigate({ search: (kept) => ({ ...kept, agent, capability: undefined }) })
          }
        />
      )}
    </Field>
  )
}

function useCard({ agentId, installedVersion: version }: InstallationItem) {
  return useQuery({ ...read("readAgentCard", { path: { agentId, version } }), staleTime: Infinity })
}

function SkillField({ installation }: { readonly installation: InstallationItem }) {
  const { capability } = route.useSearch()
  const navigate = route.useNavigate()
  const { agentId, agentName, installedVersion, skills } = installation
  const usable = skills.find(({ permissionsAccepted }) => permissionsAccepted) ?? skills[0]
  return (
    <>
      <Field label="Skill" className="w-full sm:w-80">
        {(control) => (
          <Combobox
            ids={control}
            placeholder="Choose a Skill"
            value={capability ?? usable?.id}
            options={skills.map(({ id, name, permissionsAccepted }) => ({
              value: id,
              label: name,
              detail: permissionsAccepted ? id : `${id}: a permission it needs was not accepted`,
              disabled: !permissionsAccepted,
            }))}
            onChoose={(chosen) => void navigate({ search: (kept) => ({ ...kept, capability: chosen }) })}
          />
        )}
      </Field>
      <Link
        to="/agents/$agentId"
        params={{ agentId }}
        search={{ version: installedVersion }}
        className="py-1.5 text-sm wrap-anywhere text-accent-strong underline underline-offset-2"
      >
        About {agentName}
      </Link>
    </>
  )
}

interface SkillChosenProps {
  readonly workspaceId: string
  readonly installation: InstallationItem
  readonly installations: ReadonlyArray<InstallationItem>
}

function SkillChosen({ workspaceId, installation, installations }: SkillChosenProps) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const change = (changed: PlaygroundSearch) =>
    void navigate({ search: (kept) => ({ ...kept, ...changed }), replace: true, resetScroll: false })
  return (
    <Loaded query={useCard(installation)} what="Agent Card">
      {(card) => {
        const choice = skillChoice(card, installation, search.capability)
        return choice.kind === "chosen" ? (
          <Workbench
            key={choice.skill.id}
            workspaceId={workspaceId}
            card={card}
            skill={choice.skill}
            installations={installations}
            search={search}
            onSearch={change}
          />
        ) : (
          <EmptyState
            icon={<FlaskConicalOff aria-hidden />}
            title={
              choice.kind === "unknown"
                ? `${card.name} ${card.version} has no Skill ${choice.capability}.`
                : `${choice.skill.name} may not be used in this Workspace.`
            }
          >
            {choice.kind === "unknown"
              ? "Choose one of its Skills above."
              : `It needs ${choice.missing.join(", ")}, which was not accepted when the Agent was installed. The owner can change that in the Workspace.`}
          </EmptyState>
        )
      }}
    </Loaded>
  )
}
