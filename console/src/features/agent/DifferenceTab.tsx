/** What changes between two versions of the Agent; both are in the address. */

import { getRouteApi } from "@tanstack/react-router"
import { GitCompareArrows } from "lucide-react"

import type { AgentOverview, CatalogEntry } from "@/api/contract.gen"
import { Button } from "@/components/Button"
import { EmptyState } from "@/components/EmptyState"
import { VersionDifference } from "@/domain/VersionDifference"
import { VersionPicker } from "@/features/agent/VersionPicker"
import { comparedVersion } from "@/features/agent/shownVersion"

const route = getRouteApi("/console/agents/$agentId")

interface DifferenceTabProps {
  readonly agent: AgentOverview
  readonly entry: CatalogEntry
  readonly from: string | undefined
}

export function DifferenceTab({ agent, entry, from }: DifferenceTabProps) {
  const navigate = route.useNavigate()
  const older = comparedVersion(agent.versions, entry.version, from)
  if (older === undefined) {
    return (
      <EmptyState icon={<GitCompareArrows aria-hidden />} title="There is only one version.">
        When a second version is registered, this tab shows what changed.
      </EmptyState>
    )
  }
  const compare = (version: string, other: string) =>
    void navigate({
      search: (kept) => ({ ...kept, version, from: other }),
      replace: true,
      resetScroll: false,
    })
  return (
    <div className="space-y-4">
      <div className="flex flex-wrap items-center gap-2 text-sm">
        <span>From</span>
        <VersionPicker
          label="From version"
          versions={agent.versions.filter(({ version }) => version !== entry.version)}
          value={older.version}
          onChange={(version) => compare(entry.version, version)}
        />
        <span>to</span>
        <span className="id-text font-medium">{entry.version}</span>
        <Button size="small" tone="quiet" onClick={() => compare(older.version, entry.version)}>
          <GitCompareArrows aria-hidden />
          Swap
        </Button>
      </div>
      <VersionDifference older={older.card} newer={entry.card} />
    </div>
  )
}
