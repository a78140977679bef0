/** Names and values, as a description list. */

import type { ReactNode } from "react"

import { cn } from "@/components/classes"

export type Fact = readonly [name: string, value: ReactNode]

/** Facts whose value is absent (undefined, null, false) are left out. */
export function Facts({
  facts,
  className,
}: {
  readonly facts: ReadonlyArray<Fact>
  readonly className?: string
}) {
  return (
    <dl
      className={cn(
        "grid grid-cols-[minmax(7rem,auto)_minmax(0,1fr)] gap-x-4 gap-y-2 text-sm sm:gap-x-6",
        className,
      )}
    >
      {facts
        .filter(([, value]) => value !== undefined && value !== null && value !== false)
        .map(([name, value]) => (
          <div key={name} className="col-span-2 grid grid-cols-subgrid items-baseline">
            <dt className="text-muted">{name}</dt>
            <dd className="min-w-0 break-words">{value}</dd>
          </div>
        ))}
    </dl>
  )
}
