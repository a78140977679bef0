/** How far a version can be trusted: its endpoint is proven exactly when its Release is published. */

import { ShieldAlert, ShieldCheck } from "lucide-react"

import type { CatalogEntryRelease } from "@/api/contract.gen"
import { Badge } from "@/components/Badge"
import { dateTime } from "@/components/format"
import { StateBadge } from "@/domain/StateBadge"

interface TrustBadgeProps {
  readonly release: CatalogEntryRelease
  readonly publishedAt?: string
}

export function TrustBadge({ release, publishedAt }: TrustBadgeProps) {
  if (release === null) {
    return (
      <Badge
        icon={<ShieldAlert aria-hidden />}
        title="Nobody has proven the endpoint; it cannot be installed."
      >
        No Release
      </Badge>
    )
  }
  if (release.state !== "published") return <StateBadge state={release.state} />
  const since = publishedAt === undefined ? "" : ` Published ${dateTime(publishedAt)}.`
  return (
    <Badge
      tone="ok"
      icon={<ShieldCheck aria-hidden />}
      title={`The provider proved control of the endpoint.${since}`}
    >
      Proven endpoint
    </Badge>
  )
}
