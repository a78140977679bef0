/** The facts of an Installation, what stands in its way, and what its owner can change. */

import { Link } from "@tanstack/react-router"
import { Plug, TriangleAlert } from "lucide-react"

import type { InstallationItem } from "@/api/contract.gen"
import { nextStep, recoveryOf } from "@/api/recovery"
import { Badge } from "@/components/Badge"
import { Button } from "@/components/Button"
import { CopyButton } from "@/components/CopyButton"
import { Facts } from "@/components/Facts"
import { Sentence } from "@/components/Sentence"
import { Time } from "@/components/Time"
import { shortened } from "@/components/format"
import { NameWarnings } from "@/domain/NameWarnings"
import { InstallationActions } from "@/features/workspace/InstallationActions"

interface InstallationDetailsProps {
  readonly installation: InstallationItem
  /** Absent for callers. */
  readonly onUpgrade: ((installation: InstallationItem) => void) | undefined
}

export function InstallationDetails({ installation, onUpgrade }: InstallationDetailsProps) {
  const { agentId, agentName, workspaceId, status } = installation
  return (
    <div className="space-y-4 border-t border-line bg-surface px-4 py-4 sm:pl-10">
      <Refusal installation={installation} />
      <NameWarnings agent={{ name: agentName }} resembles={installation.resembles} />
      <InstallationFacts installation={installation} />
      <div className="flex flex-wrap gap-2">
        {onUpgrade && status === "enabled" ? (
          <Button size="small" onClick={() => onUpgrade(installation)}>
            Change version or permissions
          </Button>
        ) : null}
        <Button asChild size="small">
          <Link to="/workspaces/$workspaceId/connect" params={{ workspaceId }} search={{ agent: agentId }}>
            <Plug aria-hidden />
            Use it from…
          </Link>
        </Button>
        {onUpgrade ? <InstallationActions installation={installation} name={agentName} /> : null}
      </div>
      {onUpgrade && status === "disabled" ? (
        <p className="text-sm text-muted">Enable the Installation to change its version or permissions.</p>
      ) : null}
    </div>
  )
}

function Refusal({ installation: { refusedWith } }: { readonly installation: InstallationItem }) {
  if (refusedWith === undefined) return null
  return (
    <p className="flex gap-2.5 rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
      <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
      <span className="min-w-0">
        Calls are refused with <span className="id-text font-medium">{refusedWith}</span>.{" "}
        <Sentence text={nextStep(recoveryOf({ code: refusedWith }))} />
      </span>
    </p>
  )
}

function InstallationFacts({ installation }: { readonly installation: InstallationItem }) {
  const { acceptedPermissions, installedReleaseId: releaseId, versionConstraint } = installation
  return (
    <Facts
      className="items-baseline"
      facts={[
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
            {versionConstraint === installation.installedVersion ? null : (
              <span className="text-muted">
                chosen for <span className="id-text">{versionConstraint}</span>
              </span>
            )}
          </span>,
        ],
        ["Skills", <SkillNames key="" skills={installation.skills} />],
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
        <li key={id} className="max-w-full">
          <Badge title={id} tone={permissionsAccepted ? "neutral" : "warn"}>
            {permissionsAccepted ? name : `${name}: not permitted`}
          </Badge>
        </li>
      ))}
    </ul>
  )
}
