/** Ended Installations; their records are kept. */

import { Link } from "@tanstack/react-router"
import { Archive } from "lucide-react"

import type { InstallationItem } from "@/api/contract.gen"
import { DataTable, type Column } from "@/components/DataTable"
import { EmptyState } from "@/components/EmptyState"
import { Identifier } from "@/components/Identifier"
import { Time } from "@/components/Time"

const COLUMNS: ReadonlyArray<Column<InstallationItem>> = [
  {
    name: "Agent",
    width: "minmax(0,2fr)",
    cell: ({ agentId, agentName, installedVersion }) => (
      <>
        <Link
          to="/agents/$agentId"
          params={{ agentId }}
          search={{ version: installedVersion }}
          title={agentId}
          className="block truncate text-accent-strong hover:underline"
        >
          {agentName}
        </Link>
        <span className="block truncate id-text text-muted">
          {agentId} {installedVersion}
        </span>
      </>
    ),
  },
  {
    name: "Accepted permissions",
    width: "minmax(0,2fr)",
    wideOnly: true,
    cell: ({ acceptedPermissions }) =>
      acceptedPermissions.length === 0 ? (
        <span className="text-muted">none</span>
      ) : (
        <span className="id-text" title={acceptedPermissions.join(", ")}>
          {acceptedPermissions.join(", ")}
        </span>
      ),
  },
  {
    name: "Release",
    width: "13rem",
    wideOnly: true,
    cell: ({ installedReleaseId }) => <Identifier value={installedReleaseId} what="Release id" />,
  },
  { name: "Installed", width: "7rem", wideOnly: true, cell: ({ installedAt }) => <Time at={installedAt} /> },
  { name: "Uninstalled", width: "6rem", cell: ({ updatedAt }) => <Time at={updatedAt} /> },
]

/** Two lines: the Agent and its version. */
const ROW_HEIGHT = 58

export function History({ records }: { readonly records: ReadonlyArray<InstallationItem> }) {
  if (records.length === 0) {
    return (
      <EmptyState icon={<Archive aria-hidden />} title="Nothing was uninstalled yet.">
        Ended Installations stay listed here, with their version, Release and permissions.
      </EmptyState>
    )
  }
  return (
    <DataTable
      label="Past Installations"
      columns={COLUMNS}
      rows={records}
      keyOf={({ installationId }) => installationId}
      rowHeight={ROW_HEIGHT}
    />
  )
}
