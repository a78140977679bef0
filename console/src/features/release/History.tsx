/** When the Release reached each of its states, and who suspended it. */

import type { Release } from "@/api/contract.gen"
import { Panel } from "@/components/Panel"
import { Time } from "@/components/Time"
import { micros } from "@/components/instants"

export function History({ release }: { readonly release: Release }) {
  const moments = (
    [
      ["Created", release.createdAt],
      ["Verified", release.verifiedAt],
      ["Published", release.publishedAt],
      ["Suspended", release.suspendedAt, release.suspendedBy],
      ["Revoked", release.revokedAt],
    ] as const
  )
    .flatMap(([name, at, by]) => (at === undefined ? [] : [{ name, at, by }]))
    // The endpoint may have been proven before the Release was made of it.
    .sort((one, other) => micros(one.at) - micros(other.at))
  return (
    <Panel title="History">
      <ol className="space-y-3 text-sm">
        {moments.map(({ name, at, by }) => (
          <li key={name} className="flex items-baseline gap-3">
            <span aria-hidden className="size-2 shrink-0 rounded-full bg-accent" />
            <span className="w-24 shrink-0 font-medium">{name}</span>
            <span className="text-muted">
              <Time at={at} exact /> {by === undefined ? null : <span className="block">by the {by}</span>}
            </span>
          </li>
        ))}
      </ol>
    </Panel>
  )
}
