/** When the Release reached each of its states. */

import type { Release } from "@/api/contract.gen"
import { Panel } from "@/components/Panel"
import { Time } from "@/components/Time"

export function History({ release }: { readonly release: Release }) {
  const moments = (
    [
      ["Created", release.createdAt],
      ["Verified", release.verifiedAt],
      ["Published", release.publishedAt],
      ["Suspended", release.suspendedAt],
      ["Revoked", release.revokedAt],
    ] as const
  ).flatMap(([name, at]) => (at === undefined ? [] : [{ name, at }]))
  return (
    <Panel title="History">
      <ol className="space-y-3 text-sm">
        {moments.map(({ name, at }) => (
          <li key={name} className="flex items-baseline gap-3">
            <span aria-hidden className="size-2 shrink-0 rounded-full bg-accent" />
            <span className="w-20 font-medium">{name}</span>
            <span className="text-muted">
              <Time at={at} exact />
            </span>
          </li>
        ))}
      </ol>
    </Panel>
  )
}
