/** The tools above the waterfall: find, step through failures, fold, zoom. */

import {
  ChevronDown,
  ChevronUp,
  ChevronsDownUp,
  ChevronsUpDown,
  Maximize,
  ZoomIn,
  ZoomOut,
} from "lucide-react"
import type { ReactNode } from "react"

import { Button } from "@/components/Button"
import { DebouncedInput } from "@/components/DebouncedInput"
import { count } from "@/components/format"
import type { Lineage } from "@/features/trace/useLineage"
import { isWhole, zoomed, WHOLE, type Viewport } from "@/features/trace/viewport"

/** A set of Invocations that is stepped through. */
export interface Steps {
  readonly ids: ReadonlyArray<string>
  readonly go: (step: 1 | -1) => void
}

interface TraceToolbarProps {
  readonly query: string | undefined
  readonly onQuery: (query: string | undefined) => void
  readonly found: Steps
  readonly failures: Steps
  readonly lineage: Pick<Lineage, "closeAll" | "openAll">
  readonly view: Viewport
  readonly onView: (view: Viewport) => void
}

const anyText = (text: string) => text.trim() !== ""

export function TraceToolbar(props: TraceToolbarProps) {
  const { query, onQuery, found, failures, lineage, view, onView } = props
  return (
    <div role="group" aria-label="Trace tools" className="flex flex-wrap items-center gap-x-4 gap-y-2">
      <form
        role="search"
        className="flex min-w-56 flex-1 items-center gap-1"
        onSubmit={(event) => {
          event.preventDefault()
          found.go(1)
        }}
      >
        <DebouncedInput
          label="Find in this Trace"
          placeholder="Find Agent, Skill, id, state or code"
          value={query}
          accepts={anyText}
          onChange={onQuery}
        />
        {query === undefined ? null : <Stepper steps={found} what="match" many="matches" none="no match" />}
      </form>
      {failures.ids.length === 0 ? null : (
        <Stepper steps={failures} what="failure" many="failures" none="" isBad />
      )}
      <div className="flex items-center gap-1">
        <Tool label="Collapse all" onClick={lineage.closeAll}>
          <ChevronsDownUp aria-hidden />
        </Tool>
        <Tool label="Expand all" onClick={lineage.openAll}>
          <ChevronsUpDown aria-hidden />
        </Tool>
        <Tool label="Zoom out" isOff={isWhole(view)} onClick={() => onView(zoomed(view, 2))}>
          <ZoomOut aria-hidden />
        </Tool>
        <Tool label="Zoom in" onClick={() => onView(zoomed(view, 0.5))}>
          <ZoomIn aria-hidden />
        </Tool>
        <Tool label="Whole Trace" isOff={isWhole(view)} onClick={() => onView(WHOLE)}>
          <Maximize aria-hidden />
        </Tool>
      </div>
    </div>
  )
}

interface StepperProps {
  readonly steps: Steps
  readonly what: string
  readonly many: string
  readonly none: string
  readonly isBad?: boolean
}

function Stepper({ steps: { ids, go }, what, many, none, isBad = false }: StepperProps) {
  const size = ids.length
  return (
    <span className="inline-flex shrink-0 items-center gap-1">
      <span
        role="status"
        className={`px-1 text-sm whitespace-nowrap tabular-nums ${isBad ? "font-medium text-bad" : "text-muted"}`}
      >
        {size === 0 ? none : `${count(size)} ${size === 1 ? what : many}`}
      </span>
      <Tool label={`Previous ${what}`} isOff={size === 0} onClick={() => go(-1)}>
        <ChevronUp aria-hidden />
      </Tool>
      <Tool label={`Next ${what}`} isOff={size === 0} onClick={() => go(1)}>
        <ChevronDown aria-hidden />
      </Tool>
    </span>
  )
}

interface ToolProps {
  readonly label: string
  readonly isOff?: boolean
  readonly onClick: () => void
  readonly children: ReactNode
}

function Tool({ label, isOff = false, onClick, children }: ToolProps) {
  return (
    <Button size="iconSmall" aria-label={label} title={label} disabled={isOff} onClick={onClick}>
      {children}
    </Button>
  )
}
