/** Every version of an Agent the caller may see, with its state. */

import { Link } from "@tanstack/react-router"

import type { AgentOverview, CatalogEntry } from "@/api/contract.gen"
import { DataTable, type Column } from "@/components/DataTable"
import { Identifier } from "@/components/Identifier"
import { Time } from "@/components/Time"
import { StateBadge } from "@/domain/StateBadge"

interface VersionsTabProps {
  readonly agent: AgentOverview
  readonly shown: string
}

export function VersionsTab({ agent, shown }: VersionsTabProps) {
  const columns: ReadonlyArray<Column<CatalogEntry>> = [
    {
      name: "Version",
      width: "minmax(5rem,1fr)",
      cell: ({ version }) => (
        <Link
          to="/agents/$agentId"
          params={{ agentId: agent.agentId }}
          search={{ version }}
          className="id-text font-medium text-accent-strong hover:underline"
        >
          {version}
        </Link>
      ),
    },
    { name: "Card", width: "6.5rem", cell: (entry) => <StateBadge state={entry.publicationStatus} /> },
    {
      name: "Release",
      width: "minmax(6.5rem,9rem)",
      cell: (entry) =>
        entry.release ? <StateBadge state={entry.release.state} /> : <span className="text-muted">none</span>,
    },
    { name: "Registered", width: "7rem", wideOnly: true, cell: (entry) => <Time at={entry.registeredAt} /> },
    {
      name: "Card digest",
      width: "12rem",
      wideOnly: true,
      cell: (entry) => <Identifier value={entry.cardDigest} what="Card digest" />,
    },
    {
      name: "Compare",
      width: "5rem",
      wideOnly: true,
      cell: ({ version }) =>
        version === shown ? null : (
          <Link
            to="/agents/$agentId"
            params={{ agentId: agent.agentId }}
            search={{ version: shown, tab: "difference", from: version }}
            aria-label={`Compare ${version} with ${shown}`}
            className="text-accent-strong hover:underline"
          >
            Compare
          </Link>
        ),
    },
  ]
  return (
    <DataTable
      label="Versions"
      columns={columns}
      rows={agent.versions}
      keyOf={(entry) => entry.version}
      isMarked={(entry) => entry.version === shown}
    />
  )
}
