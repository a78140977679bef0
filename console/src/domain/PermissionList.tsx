/** The permissions a version asks for, in its own words. */

import type { AgentCardPermission } from "@/api/contract.gen"

export function PermissionList({
  permissions,
}: {
  readonly permissions: ReadonlyArray<AgentCardPermission>
}) {
  if (permissions.length === 0) return <p className="text-sm text-muted">This version asks for none.</p>
  return (
    <ul className="space-y-2.5 text-sm">
      {permissions.map((permission) => (
        <li key={permission.id}>
          <span className="id-text font-medium">{permission.id}</span>
          <p className="text-muted">{permission.description}</p>
        </li>
      ))}
    </ul>
  )
}
