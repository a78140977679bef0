/** One current Installation: its version, permissions and state, its problems and its actions. */

import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { CircleArrowUp, FlaskConical, Plug, TriangleAlert } from "lucide-react"
import type { ReactNode } from "react"

import type { InstallationItem } from "@/api/contract.gen"
import { agentVersions } from "@/api/queries"
import { nextStep, recoveryOf } from "@/api/recovery"
import { Badge } from "@/components/Badge"
import { Button } from "@/components/Button"
import { CopyButton } from "@/components/CopyButton"
import { Facts } from "@/components/Facts"
import { Identifier } from "@/components/Identifier"
import { Panel } from "@/components/Panel"
import { ProblemNotice } from "@/components/Problems"
import { Time } from "@/components/Time"
import { shortened } from "@/components/format"
import { StateBadge } from "@/domain/StateBadge"
import { InstallationActions } from "@/features/workspace/InstallationActions"
import type { PlannedUpgrade } from "@/features/workspace/UpgradeDialog"
import { installationStateOf, type InstallationState } from "@/features/workspace/installationState"
import { otherVersions } from "@/features/workspace/versions"

interface InstallationPanelProps {
  readonly installation: InstallationItem
  /** The owner wants to see what another version would change; absent for callers, who get no action of the owner. */
  readonly onUpgrade: ((plan: PlannedUpgrade) => void) | undefined
}

export function InstallationPanel({ installation, onUpgrade }: InstallationPanelProps) {
  const { agentId, agentName, installedVersion, workspaceId, status } = installation
  const agent = useQuery(agentVersions(agentId))
  const entry = agent.data?.versions.find(({ version }) => version === installedVersion)
  // FORBIDDEN: the Agent is known, and none of its versions is shown to this caller.
  const versions = agent.data?.versions ?? (agent.error?.code === "FORBIDDEN" ? [] : undefined)
  const state = versions ? installationStateOf(installation, versions) : undefined
  const others = otherVersions(versions ?? [], installedVersion)
  // The same version can be chosen again, with other permissions.
  const choices = entry?.installable === true ? [...others.all, entry] : others.all
  const upgrade = () =>
    onUpgrade?.({ installation, installed: entry, choices, suggested: others.newer ?? entry })
  return (
    <Panel
      title={
        <span className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
          <Link
            to="/agents/$agentId"
            params={{ agentId }}
            search={{ version: installedVersion }}
            className="hover:text-accent-strong"
          >
            {agentName}
          </Link>
          <span className="id-text font-normal text-muted">{installedVersion}</span>
          <StateBadge state={status} />
        </span>
      }
      actions={
        <>
          {status === "enabled" && state?.refusal === undefined ? (
            <>
              <Button asChild size="small">
                <Link
                  to="/workspaces/$workspaceId/playground"
                  params={{ workspaceId }}
                  search={{ agent: agentId }}
                >
                  <FlaskConical aria-hidden />
                  Try it
                </Link>
              </Button>
              <Button asChild size="small">
                <Link
                  to="/workspaces/$workspaceId/connect"
                  params={{ workspaceId }}
                  search={{ agent: agentId }}
                >
                  <Plug aria-hidden />
                  <span className="max-sm:sr-only">Use it from…</span>
                </Link>
              </Button>
            </>
          ) : null}
          {onUpgrade && status === "enabled" && choices.length > 0 && others.newer === undefined ? (
            <Button size="small" onClick={upgrade}>
              Change
            </Button>
          ) : null}
          {onUpgrade ? <InstallationActions installation={installation} name={agentName} /> : null}
        </>
      }
    >
      <div className="space-y-4">
        {others.newer ? (
          <Notice tone="accent" icon={<CircleArrowUp aria-hidden />}>
            <span>
              Version <span className="id-text font-medium">{others.newer.version}</span> is available.
            </span>
            {onUpgrade && status === "enabled" ? (
              <Button size="small" onClick={upgrade}>
                See what changes
              </Button>
            ) : (
              <span className="text-muted">
                {onUpgrade ? "Enable the Installation to upgrade it." : "Its owner can upgrade."}
              </span>
            )}
          </Notice>
        ) : null}
        {agent.isError && versions === undefined ? (
          <ProblemNotice
            title="The Card could not be loaded"
            problem={agent.error}
            onRetry={() => void agent.refetch()}
          />
        ) : null}
        {state ? <StateNotices state={state} /> : null}
        <InstallationFacts installation={installation} />
      </div>
    </Panel>
  )
}

function InstallationFacts({ installation }: { readonly installation: InstallationItem }) {
  const { acceptedPermissions, installedReleaseId: releaseId, skills } = installation
  return (
    <Facts
      className="items-baseline"
      facts={[
        ["Agent", <Identifier key="" whole value={installation.agentId} what="Agent id" />],
        [
          "Pinned to",
          <span key="" className="flex flex-wrap items-center gap-x-2">
            <span className="id-text">{installation.installedVersion}</span>
            <span className="inline-flex items-center gap-0.5">
              <Link
                to="/releases/$releaseId"
                params={{ releaseId }}
                title={releaseId}
                className="id-text text-accent-strong underline underline-offset-2"
              >
                {shortened(releaseId)}
              </Link>
              <CopyButton text={releaseId} what="Release id" className="size-6 [&_svg]:size-3.5" />
            </span>
            {installation.versionConstraint === installation.installedVersion ? null : (
              <span className="text-muted">
                chosen for <span className="id-text">{installation.versionConstraint}</span>
              </span>
            )}
          </span>,
        ],
        ["Skills", <SkillNames key="" skills={skills} />],
        [
          "Accepted permissions",
          <span key="" className="flex flex-wrap gap-1.5">
            {acceptedPermissions.length === 0 ? <span className="text-muted">none</span> : null}
            {acceptedPermissions.map((id) => (
              <Badge key={id} className="id-text">
                {id}
              </Badge>
            ))}
          </span>,
        ],
        ["Installed", <Time key="" at={installation.installedAt} exact />],
        [
          "Last change",
          installation.updatedAt === installation.installedAt ? undefined : (
            <Time key="" at={installation.updatedAt} exact />
          ),
        ],
      ]}
    />
  )
}

/** All of the Agent; calls of one whose permissions were not accepted are refused. */
function SkillNames({ skills }: { readonly skills: InstallationItem["skills"] }) {
  return (
    <ul className="flex flex-wrap gap-1.5">
      {skills.map(({ id, name, permissionsAccepted }) => (
        <li key={id}>
          <Badge title={id} tone={permissionsAccepted ? "neutral" : "warn"}>
            {permissionsAccepted ? name : `${name}: not permitted`}
          </Badge>
        </li>
      ))}
    </ul>
  )
}

function StateNotices({ state: { refusal, isHidden, unusable } }: { readonly state: InstallationState }) {
  return (
    <>
      {refusal === undefined ? null : (
        <Notice tone="warn" icon={<TriangleAlert aria-hidden />}>
          <span>
            {isHidden ? "The provider no longer shows this version. " : ""}
            Invocations are refused with <span className="id-text font-medium">{refusal}</span>. Next step:{" "}
            {nextStep(recoveryOf({ code: refusal }))}
          </span>
        </Notice>
      )}
      {unusable.length === 0 ? null : (
        <Notice tone="warn" icon={<TriangleAlert aria-hidden />}>
          <div>
            <ul>
              {unusable.map(({ skill, missing }) => (
                <li key={skill.id}>
                  The Skill <span className="id-text font-medium">{skill.id}</span> cannot be used:{" "}
                  <span className="id-text">{missing.join(", ")}</span> was not accepted.
                </li>
              ))}
            </ul>
            The owner accepts more by changing the Installation.
          </div>
        </Notice>
      )}
    </>
  )
}

interface NoticeProps {
  readonly tone: "accent" | "warn"
  readonly icon: ReactNode
  readonly children: ReactNode
}

function Notice({ tone, icon, children }: NoticeProps) {
  const look = tone === "accent" ? "bg-accent-soft text-accent-strong" : "bg-warn-soft text-warn"
  return (
    <div
      className={`flex gap-2.5 rounded-md px-3 py-2 text-sm [&>svg]:mt-1 [&>svg]:size-4 [&>svg]:shrink-0 ${look}`}
    >
      {icon}
      <div className="flex min-w-0 flex-1 flex-wrap items-center justify-between gap-x-4 gap-y-2">
        {children}
      </div>
    </div>
  )
}
