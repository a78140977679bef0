/** Any JSON value as a tree whose branches open and close. */

import type { Json } from "@/api/contract.gen"
import { plural } from "@/components/format"

const OPEN_LEVELS = 2
const OPEN_ITEMS = 30

export function JsonView({ value, label }: { readonly value: Json; readonly label: string }) {
  return (
    <div
      role="region"
      aria-label={label}
      // A region that scrolls must be reachable with the keyboard.
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      className="max-h-[28rem] overflow-auto rounded-md border border-line bg-sunken p-3 font-mono text-xs leading-6"
    >
      <Node value={value} level={0} />
    </div>
  )
}

function Node({
  name,
  value,
  level,
}: {
  readonly name?: string
  readonly value: Json
  readonly level: number
}) {
  const entries = branches(value)
  if (entries === undefined || entries.length === 0) {
    return (
      <div className="break-words whitespace-pre-wrap">
        <Name name={name} />
        <Leaf value={value} />
      </div>
    )
  }
  const isArray = Array.isArray(value)
  return (
    <details open={level < OPEN_LEVELS && entries.length <= OPEN_ITEMS}>
      <summary className="cursor-pointer rounded select-none hover:bg-hover">
        <Name name={name} />
        <span className="text-muted">
          {isArray ? `[ ${plural(entries.length, "item")} ]` : `{ ${plural(entries.length, "member")} }`}
        </span>
      </summary>
      <div className="ml-1.5 border-l border-line pl-3">
        {entries.map(([key, child]) => (
          <Node key={key} name={key} value={child} level={level + 1} />
        ))}
      </div>
    </details>
  )
}

function branches(value: Json): ReadonlyArray<[string, Json]> | undefined {
  return typeof value === "object" && value !== null ? Object.entries(value) : undefined
}

function Name({ name }: { readonly name: string | undefined }) {
  return name === undefined ? null : <span className="text-accent-strong">{name}: </span>
}

function Leaf({ value }: { readonly value: Json }) {
  if (typeof value === "string") return <span className="text-ok">{JSON.stringify(value)}</span>
  if (typeof value === "number" || typeof value === "boolean" || value === null) {
    return <span className="text-note">{String(value)}</span>
  }
  return <span className="text-muted">{Array.isArray(value) ? "[ ]" : "{ }"}</span>
}
