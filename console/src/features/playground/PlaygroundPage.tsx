/** Trying an installed Agent: choose it and one of its Skills, run it, see what comes back. */

import { useQuery } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { FlaskConicalOff } from "lucide-react"
import type { ReactNode } from "react"

import type { AgentCard, Installation } from "@/api/contract.gen"
import { read, whole } from "@/api/queries"
import { EmptyState } from "@/components/EmptyState"
import { Field, Select } from "@/components/Field"
import { Loaded } from "@/components/Loaded"
import { Page } from "@/components/Page"
import { agentChoice, missingPermissions, offered, skillChoice } from "@/features/playground/choice"
import { NothingOffered } from "@/features/playground/NothingOffered"
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
  readonly installations: ReadonlyArray<Installation>
}

function AgentChosen({ workspaceId, installations }: AgentChosenProps) {
  const { agent } = route.useSearch()
  const navigate = route.useNavigate()
  const choice = agentChoice(installations, agent)
  const enabled = offered(installations)
  if (enabled.length === 0 && choice.kind !== "chosen")
    return <NothingOffered {...choice} workspaceId={workspaceId} />
  const chosen = choice.kind === "chosen" ? choice.installation : undefined
  const picker = (
    <Field label="Agent" className="w-full sm:w-80">
      {(control) => (
        <Select
          {...control}
          value={chosen?.agentId ?? ""}
          onChange={(event) =>
            void navigate({
              search: (kept) => ({ ...kept, agent: event.target.value, capability: undefined }),
            })
          }
        >
          {chosen === undefined ? <option value="">Choose an Agent</option> : null}
          {enabled.map(({ agentId, installedVersion }) => (
            <option key={agentId} value={agentId}>
              {agentId} {installedVersion}
            </option>
          ))}
        </Select>
      )}
    </Field>
  )
  if (chosen === undefined) {
    return (
      <div className="space-y-5">
        <div className="flex flex-wrap gap-4">{picker}</div>
        <NothingOffered {...choice} workspaceId={workspaceId} />
      </div>
    )
  }
  return (
    <SkillChosen
      key={chosen.installationId}
      workspaceId={workspaceId}
      installation={chosen}
      picker={picker}
    />
  )
}

interface SkillChosenProps {
  readonly workspaceId: string
  readonly installation: Installation
  readonly picker: ReactNode
}

function SkillChosen({ workspaceId, installation, picker }: SkillChosenProps) {
  const { agentId, installedVersion: version } = installation
  const card = useQuery({ ...read("readAgentCard", { path: { agentId, version } }), staleTime: Infinity })
  return (
    <div className="space-y-5">
      {card.data === undefined ? <div className="flex flex-wrap gap-4">{picker}</div> : null}
      <Loaded query={card} what="Agent Card">
        {(value) => (
          <ChosenSkill workspaceId={workspaceId} installation={installation} card={value} picker={picker} />
        )}
      </Loaded>
    </div>
  )
}

function ChosenSkill({
  workspaceId,
  installation,
  card,
  picker,
}: SkillChosenProps & { readonly card: AgentCard }) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const choice = skillChoice(card, installation, search.capability)
  const change = (changed: PlaygroundSearch) =>
    void navigate({ search: (kept) => ({ ...kept, ...changed }), replace: true, resetScroll: false })
  return (
    <>
      <div className="flex flex-wrap items-end gap-4">
        {picker}
        <Field label="Skill" className="w-full sm:w-80">
          {(control) => (
            <Select
              {...control}
              value={choice.kind === "unknown" ? "" : choice.skill.id}
              onChange={(event) =>
                void navigate({ search: (kept) => ({ ...kept, capability: event.target.value }) })
              }
            >
              {choice.kind === "unknown" ? <option value="">Choose a Skill</option> : null}
              {card.skills.map((skill) => (
                <option
                  key={skill.id}
                  value={skill.id}
                  disabled={missingPermissions(skill, installation).length > 0}
                >
                  {skill.id}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <Link
          to="/agents/$agentId"
          params={{ agentId: card.agentId }}
          search={{ version: card.version }}
          className="py-1.5 text-sm text-accent-strong underline underline-offset-2"
        >
          About {card.name}
        </Link>
      </div>
      {choice.kind === "chosen" ? (
        <Workbench
          key={choice.skill.id}
          workspaceId={workspaceId}
          card={card}
          skill={choice.skill}
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
            : `It needs ${choice.missing.join(", ")}, which was not accepted when the Agent was installed. Uninstall it and install it again to accept more.`}
        </EmptyState>
      )}
    </>
  )
}
