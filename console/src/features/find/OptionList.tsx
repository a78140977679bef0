/** What the box found, group by group; one line is active, and the keyboard stays in the box. */

import { Boxes, CornerDownLeft, Package, ScrollText, Search, Zap, type LucideIcon } from "lucide-react"
import { useEffect, useRef } from "react"

import { Badge } from "@/components/Badge"
import { cn } from "@/components/classes"
import type { Kind, Option, Results } from "@/features/find/option"

const ICONS: Readonly<Record<Kind, LucideIcon>> = {
  action: Zap,
  agent: Package,
  workspace: Boxes,
  record: ScrollText,
  search: Search,
}

interface OptionListProps {
  readonly id: string
  readonly results: ReadonlyArray<Results>
  readonly isBusy: boolean
  /** Counted over all groups. */
  readonly active: number
  readonly onActive: (index: number) => void
  readonly onGo: (option: Option) => void
}

export function OptionList({ id, results, isBusy, active, onActive, onGo }: OptionListProps) {
  const groups = withOffsets(results.filter(({ options }) => options.length > 0))
  return (
    <>
      <div
        id={id}
        role="listbox"
        aria-label="Results"
        className="min-h-0 flex-1 overflow-y-auto p-2 empty:hidden"
      >
        {groups.map(({ heading, options, offset }) => (
          <div key={heading} role="group" aria-label={heading}>
            <p aria-hidden className="px-2 pt-2 pb-1 text-xs font-medium text-muted">
              {heading}
            </p>
            {options.map((option, index) => (
              <OptionLine
                key={option.key}
                id={`${id}-${offset + index}`}
                option={option}
                isActive={offset + index === active}
                onActive={() => onActive(offset + index)}
                onGo={() => onGo(option)}
              />
            ))}
          </div>
        ))}
      </div>
      <Notes results={results} isBusy={isBusy} />
    </>
  )
}

function withOffsets(results: ReadonlyArray<Results>): ReadonlyArray<Results & { readonly offset: number }> {
  let offset = 0
  return results.map((each) => {
    const placed = { ...each, offset }
    offset += each.options.length
    return placed
  })
}

interface OptionLineProps {
  readonly id: string
  readonly option: Option
  readonly isActive: boolean
  readonly onActive: () => void
  readonly onGo: () => void
}

function OptionLine({ id, option, isActive, onActive, onGo }: OptionLineProps) {
  const line = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (isActive) line.current?.scrollIntoView({ block: "nearest" })
  }, [isActive])
  const Icon = ICONS[option.kind]
  return (
    // Keys are handled by the box, which keeps the focus.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
    <div
      ref={line}
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={isActive}
      className={cn(
        "flex cursor-pointer items-center gap-3 rounded-md px-2 py-1.5",
        isActive && "bg-accent-soft text-accent-strong",
      )}
      onMouseMove={onActive}
      onClick={onGo}
    >
      <Icon aria-hidden className="size-4 shrink-0 text-muted" />
      <span className="flex min-w-0 flex-1 flex-wrap items-baseline gap-x-2">
        <span className="max-w-full truncate font-medium">{option.title}</span>
        {option.detail ? (
          <span className="max-w-full min-w-0 truncate id-text text-sm text-muted">{option.detail}</span>
        ) : null}
      </span>
      {option.mark ? <Badge>{option.mark}</Badge> : null}
      {isActive ? <CornerDownLeft aria-hidden className="size-3.5 shrink-0" /> : null}
    </div>
  )
}

/** What was looked for in vain, and what could not be looked for: never the same sentence. */
function Notes({ results, isBusy }: Pick<OptionListProps, "results" | "isBusy">) {
  const failed = results.filter(({ problem }) => problem !== undefined && problem !== null)
  const notes = results.flatMap(({ note, options }) => (note && options.length === 0 ? [note] : []))
  return (
    <div role="status" className="space-y-1 px-4 py-3 text-sm text-muted empty:hidden">
      {isBusy ? null : notes.map((note) => <p key={note}>{note}</p>)}
      {failed.map(({ heading, problem }) => (
        <p key={heading} className="text-bad">
          {heading === "" ? "This id" : heading} could not be looked up:{" "}
          {problem instanceof Error ? problem.message : "something unexpected happened."} Try again.
        </p>
      ))}
    </div>
  )
}
