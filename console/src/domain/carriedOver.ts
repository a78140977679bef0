/** Which permissions are carried over when an Installation is upgraded, and which must be looked at. */

import type { AgentCard, Installation } from "@/api/contract.gen"

export interface CarriedOver {
  readonly accepted: ReadonlySet<string>
  /** Why a permission is not carried over, by its id. */
  readonly marks: ReadonlyMap<string, string>
}

/** Accepted before and still meaning the same; whatever is new or reads differently is for the owner to accept. */
export function carriedOver(
  { acceptedPermissions }: Installation,
  installed: AgentCard | undefined,
  target: AgentCard,
): CarriedOver {
  const before = new Map(installed?.permissions.map(({ id, description }) => [id, description]))
  const isSame = (id: string, description: string) => before.get(id) === description
  return {
    accepted: new Set(
      target.permissions
        .filter(({ id, description }) => acceptedPermissions.includes(id) && isSame(id, description))
        .map(({ id }) => id),
    ),
    marks: new Map(
      target.permissions
        .filter(({ id, description }) => !isSame(id, description))
        .map(({ id }) => [id, before.has(id) ? "changed" : "new"]),
    ),
  }
}
