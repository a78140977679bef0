/** One found Agent version: what it is, what it can do, and how far it can be trusted. */

import { Link } from "@tanstack/react-router"

import type { DiscoveryItem } from "@/api/contract.gen"
import { Badge } from "@/components/Badge"
import { date, plural } from "@/components/format"
import { TrustBadge } from "@/domain/TrustBadge"

const SHOWN_SKILLS = 4

interface AgentResultProps {
  readonly item: DiscoveryItem
  readonly onCapability: (capability: string) => void
}

export function AgentResult({ item, onCapability }: AgentResultProps) {
  return (
    <article className="relative rounded-lg border border-line bg-surface p-4 hover:border-line-strong">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
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
      </div>
      <p className="mt-1 line-clamp-2 max-w-3xl text-muted">{item.description}</p>
      <div className="mt-2.5 flex flex-wrap items-center gap-1.5">
        {item.skills.slice(0, SHOWN_SKILLS).map((skill) => (
          <button
            key={skill.id}
            type="button"
            title={`Agents with the capability ${skill.id}`}
            className="relative cursor-pointer rounded-full hover:brightness-95"
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
        <span className="min-w-0">
          by {item.owner.displayName} <span className="id-text">({item.owner.id})</span>
        </span>
        <span className="id-text">{item.agentId}</span>
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
