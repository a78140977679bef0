/** Why the shown version cannot be installed, and what else can be done. */

import { Ban } from "lucide-react"

import type { AgentOverview, CatalogEntry, ReleaseState } from "@/api/contract.gen"

const REASONS: Readonly<Record<ReleaseState, string>> = {
  draft: "Its Release is not published yet.",
  pending_verification: "Its endpoint is not proven yet.",
  verified: "Its Release is not published yet.",
  published: "",
  suspended: "Its Release is suspended, and calls of it are refused.",
  revoked: "Its Release is revoked permanently, and calls of it are refused.",
}

interface NotInstallableProps {
  readonly agent: AgentOverview
  readonly entry: CatalogEntry
}

export function NotInstallable({ agent, entry }: NotInstallableProps) {
  if (entry.installable) return null
  return (
    <p role="note" className="flex gap-3 rounded-lg border border-line bg-sunken p-3 text-sm">
      <Ban aria-hidden className="mt-0.5 size-4 shrink-0 text-muted" />
      <span>
        Version <span className="id-text">{entry.version}</span> cannot be installed. {reasonOf(entry)}
        {agent.versions.some(({ installable }) => installable) ? " Choose another version above." : ""}
      </span>
    </p>
  )
}

function reasonOf({ publicationStatus, release }: CatalogEntry): string {
  if (publicationStatus === "disabled") return "Its provider has disabled it."
  return release === null ? "It has no Release yet." : REASONS[release.state]
}
