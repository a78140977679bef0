/** One current Installation in a line: what it is, what is to be known, what one does next; the rest opens below. */

import { Link } from "@tanstack/react-router"
import { ChevronRight, CircleArrowUp } from "lucide-react"
import { useEffect, useId, useRef, useState } from "react"

import type { InstallationItem } from "@/api/contract.gen"
import { Badge } from "@/components/Badge"
import { Button } from "@/components/Button"
import { cn } from "@/components/classes"
import { TryIt } from "@/domain/AlreadyInstalled"
import { mayImitate } from "@/domain/NameWarnings"
import { StateBadge } from "@/domain/StateBadge"
import { canBeTried } from "@/domain/installed"
import { InstallationDetails } from "@/features/workspace/InstallationDetails"

interface InstallationRowProps {
  readonly installation: InstallationItem
  /** Where somebody was led to: marked, opened and in view. */
  readonly isMarked: boolean
  /** The owner wants to see what another version would change; absent for callers, who get no action of the owner. */
  readonly onUpgrade: ((installation: InstallationItem) => void) | undefined
}

export function InstallationRow({ installation, isMarked, onUpgrade }: InstallationRowProps) {
  const { agentId, agentName, installedVersion, workspaceId, status, newerVersion } = installation
  const [isOpen, setIsOpen] = useState(isMarked)
  const row = useRef<HTMLElement>(null)
  const details = useId()
  useEffect(() => {
    if (isMarked) row.current?.scrollIntoView({ block: "center" })
  }, [isMarked])
  return (
    <article
      ref={row}
      aria-label={agentName}
      className={cn("relative", isMarked && "bg-accent-soft shadow-[inset_3px_0_0_var(--accent)]")}
    >
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2 py-2.5 pr-3 pl-1.5">
        <div className="flex min-w-0 flex-1 basis-64 items-start gap-1">
          <Button
            tone="quiet"
            size="iconSmall"
            aria-label={`Details of ${agentName}`}
            aria-expanded={isOpen}
            aria-controls={details}
            onClick={() => setIsOpen(!isOpen)}
          >
            <ChevronRight aria-hidden className={cn("transition-transform", isOpen && "rotate-90")} />
          </Button>
          <div className="min-w-0">
            <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
              <Link
                to="/agents/$agentId"
                params={{ agentId }}
                search={{ version: installedVersion }}
                className="font-medium wrap-anywhere hover:text-accent-strong hover:underline"
              >
                {agentName}
              </Link>
              <span className="id-text text-muted">{installedVersion}</span>
              <Marks installation={installation} />
            </div>
            <p className="id-text text-sm text-muted">{agentId}</p>
          </div>
        </div>
        <div className="ml-auto flex flex-wrap items-center gap-2 empty:hidden">
          {newerVersion !== undefined && onUpgrade && status === "enabled" ? (
            <Button size="small" onClick={() => onUpgrade(installation)}>
              <CircleArrowUp aria-hidden />
              Upgrade to {newerVersion}
            </Button>
          ) : null}
          {canBeTried(installation) ? <TryIt workspaceId={workspaceId} agentId={agentId} /> : null}
        </div>
      </div>
      <div id={details}>
        {isOpen ? <InstallationDetails installation={installation} onUpgrade={onUpgrade} /> : null}
      </div>
    </article>
  )
}

const REFUSALS: Readonly<Record<NonNullable<InstallationItem["refusedWith"]>, string>> = {
  AGENT_RELEASE_UNPUBLISHED: "Not published",
  AGENT_RELEASE_SUSPENDED: "Suspended by its provider",
  AGENT_RELEASE_REVOKED: "Revoked by its provider",
  AGENT_DISABLED: "Disabled by its provider",
}

/** Whatever keeps calls from being accepted, and a name to be looked at twice; an Installation in order has no mark. */
function Marks({ installation }: { readonly installation: InstallationItem }) {
  const { status, refusedWith, skills, newerVersion, agentName: name, resembles } = installation
  const refused = skills.filter(({ permissionsAccepted }) => !permissionsAccepted).length
  return (
    <>
      {mayImitate({ name }, resembles) ? <Badge tone="warn">Its name may imitate another</Badge> : null}
      {status === "enabled" ? null : <StateBadge state={status} />}
      {refusedWith === undefined ? null : <Badge tone="bad">{REFUSALS[refusedWith]}</Badge>}
      {refused === 0 ? null : (
        <Badge tone="warn">
          {refused === skills.length
            ? "No Skill permitted"
            : `${refused} of ${skills.length} Skills not permitted`}
        </Badge>
      )}
      {newerVersion === undefined ? null : <Badge tone="accent">{newerVersion} is available</Badge>}
    </>
  )
}
