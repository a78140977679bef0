/** One found Agent version: what it is, what it can do, how far it can be trusted, and whether one has it already. */

import { Link } from "@tanstack/react-router"
import { CircleArrowUp } from "lucide-react"

import type { DiscoveryItem } from "@/api/contract.gen"
import { Badge } from "@/components/Badge"
import { Button } from "@/components/Button"
import { date, plural } from "@/components/format"
import { TryIt } from "@/domain/AlreadyInstalled"
import { TrustBadge } from "@/domain/TrustBadge"
import { canBeTried, type OpenWorkspace } from "@/domain/installed"
import { isUpgrade } from "@/domain/versions"

const SHOWN_SKILLS = 4

interface AgentResultProps {
  readonly item: DiscoveryItem
  readonly workspace: OpenWorkspace
  readonly onCapability: (capability: string) => void
}

export function AgentResult({ item, workspace, onCapability }: AgentResultProps) {
  return (
    <article className="relative rounded-lg border border-line bg-surface p-4 hover:border-line-strong">
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
        <div className="flex min-w-0 flex-1 basis-80 flex-wrap items-center gap-x-3 gap-y-1.5">
          <h2 className="min-w-0 text-lg font-semibold tracking-tight">
            <Link
              to="/agents/$agentId"
              params={{ agentId: item.agentId }}
              search={{ version: item.version }}
              className="after:absolute after:inset-0 after:rounded-lg hover:text-accent-strong"
            >
              {item.name}
            </Link>
          </h2>
          <span className="id-text text-muted">{item.version}</span>
          <TrustBadge release={item.release} publishedAt={item.publishedAt} />
          <InstalledBadge item={item} workspace={workspace} />
        </div>
        <div className="relative flex shrink-0 flex-wrap gap-2 empty:hidden">
          <ResultActions item={item} workspace={workspace} />
        </div>
      </div>
      <p className="mt-1 line-clamp-2 max-w-3xl text-muted">{item.description}</p>
      <div className="mt-2.5 flex flex-wrap items-center gap-1.5">
        {item.skills.slice(0, SHOWN_SKILLS).map((skill) => (
          <button
            key={skill.id}
            type="button"
            title={`Agents with the Skill ${skill.id}`}
            className="relative max-w-full cursor-pointer rounded-full hover:brightness-95"
            onClick={() => onCapability(skill.id)}
          >
            <Badge tone="accent" className="id-text">
              {skill.id}
            </Badge>
          </button>
        ))}
        {item.skills.length > SHOWN_SKILLS ? <Badge>{item.skills.length - SHOWN_SKILLS} more</Badge> : null}
      </div>
      <p className="mt-2.5 flex flex-wrap gap-x-4 gap-y-1 text-sm text-muted">
        <span className="id-text">{item.agentId}</span>
        <span className="min-w-0">
          by {item.owner.displayName} <span className="id-text">({item.owner.id})</span>
        </span>
        <span>published {date(item.publishedAt)}</span>
        <span>
          {item.permissions.length === 0
            ? "asks for no permission"
            : `asks for ${plural(item.permissions.length, "permission")}`}
        </span>
      </p>
    </article>
  )
}

type KnownProps = Pick<AgentResultProps, "item" | "workspace">

function InstalledBadge({ item, workspace }: KnownProps) {
  const installation = workspace.installationOf(item.agentId)
  if (installation === undefined) return null
  const { status, installedVersion, workspaceId } = installation
  return (
    <Badge tone={status === "enabled" ? "accent" : "warn"} title={`In the Workspace ${workspaceId}`}>
      {status === "enabled" ? "Installed" : "Disabled"}
      {installedVersion === item.version ? "" : `: ${installedVersion}`}
    </Badge>
  )
}

/** What somebody would do next with this Agent in the open Workspace. */
function ResultActions({ item, workspace }: KnownProps) {
  const { agentId, name, version } = item
  const installation = workspace.installationOf(agentId)
  if (installation === undefined) {
    if (workspace.isPending || !item.installable) return null
    return (
      <Button asChild size="small">
        <Link
          to="/agents/$agentId"
          params={{ agentId }}
          search={{ version, open: "install" }}
          aria-label={`Install ${name}`}
        >
          Install
        </Link>
      </Button>
    )
  }
  const newer = item.installable && isUpgrade(installation.installedVersion, version)
  return (
    <>
      {newer && workspace.isOwner && installation.status === "enabled" ? (
        <Button asChild size="small">
          <Link to="/agents/$agentId" params={{ agentId }} search={{ open: "upgrade" }}>
            <CircleArrowUp aria-hidden />
            Upgrade to {version}
          </Link>
        </Button>
      ) : null}
      {canBeTried(installation) ? <TryIt workspaceId={installation.workspaceId} agentId={agentId} /> : null}
    </>
  )
}
