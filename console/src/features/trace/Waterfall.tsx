/** All Invocations of a Trace as bars on one time axis, the called below and inside their caller. */

import { useVirtualizer } from "@tanstack/react-virtual"
import { useEffect, useRef, useState } from "react"

import type { InvocationEvent } from "@/api/contract.gen"
import { cn } from "@/components/classes"
import { useWide } from "@/components/useWide"
import { useWidth } from "@/components/useWidth"
import type { Branch } from "@/features/trace/lineage"
import type { Lineage } from "@/features/trace/useLineage"
import { useTreeKeys } from "@/features/trace/useTreeKeys"
import { ticksOf } from "@/features/trace/timeAxis"
import { TRACKS, WaterfallRow, type Drawn } from "@/features/trace/WaterfallRow"

interface WaterfallProps {
  readonly label: string
  readonly lineage: Lineage
  readonly drawn: Drawn
  readonly chosen: string | undefined
  /** Of the chosen one. */
  readonly events: ReadonlyArray<InvocationEvent>
  readonly found: ReadonlySet<string>
  readonly onChoose: (id: string) => void
  readonly shortcuts?: Readonly<Record<string, (branch: Branch) => void>>
  readonly className?: string
}

const NO_EVENTS: ReadonlyArray<InvocationEvent> = []
const NO_SHORTCUTS = {}
const rowId = (label: string, id: string) => `${label.replaceAll(" ", "-")}-${id}`

export function Waterfall(props: WaterfallProps) {
  const isWide = useWide()
  // Rows of another height are another list.
  return <Rows key={String(isWide)} {...props} rowHeight={isWide ? 32 : 56} />
}

function Rows(props: WaterfallProps & { readonly rowHeight: number }) {
  const { label, lineage, drawn, chosen, events, found, onChoose, shortcuts = NO_SHORTCUTS } = props
  const { rows, closed, close } = lineage
  const scroller = useRef<HTMLDivElement>(null)
  const tree = useRef<HTMLDivElement>(null)
  const [active, setActive] = useActive(chosen ?? rows[0]?.record.invocationId)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => props.rowHeight,
    overscan: 8,
    scrollPaddingStart: 2 * props.rowHeight,
    scrollPaddingEnd: props.rowHeight,
  })
  const indexOf = (id: string | undefined) => rows.findIndex((row) => row.record.invocationId === id)
  const activeIndex = Math.max(0, indexOf(active))
  const onMove = (index: number) => {
    setActive(rows[index]?.record.invocationId)
    virtual.scrollToIndex(index)
  }
  const onKeyDown = useTreeKeys({ lineage, active: activeIndex, onMove, onChoose, shortcuts })
  useEffect(() => {
    const index = indexOf(chosen)
    if (index >= 0) virtual.scrollToIndex(index)
    // Only when another one is chosen; a tree that grows stays where it is.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [chosen])
  const shown = virtual.getVirtualItems()
  const isShown = shown.some((item) => item.index === activeIndex)
  const activeId = rows[activeIndex]?.record.invocationId
  return (
    <div
      ref={scroller}
      className={cn("scroll-pt-8 overflow-y-auto rounded-lg border border-line bg-surface", props.className)}
    >
      <AxisRow drawn={drawn} />
      <div
        ref={tree}
        role="tree"
        aria-label={label}
        tabIndex={0}
        aria-activedescendant={isShown && activeId !== undefined ? rowId(label, activeId) : undefined}
        className="group/tree relative outline-none"
        style={{ height: virtual.getTotalSize() }}
        onKeyDown={onKeyDown}
        // Whoever comes with the Tab key sees where they are: the row may be scrolled away, or be behind the axis.
        onFocus={({ currentTarget }) => {
          if (currentTarget.matches(":focus-visible")) virtual.scrollToIndex(activeIndex)
        }}
      >
        {shown.map((item) => {
          const branch = rows[item.index]
          if (branch === undefined) return null
          const id = branch.record.invocationId
          return (
            <WaterfallRow
              key={id}
              id={rowId(label, id)}
              branch={branch}
              drawn={drawn}
              isClosed={closed.has(id) && branch.children.length > 0}
              isActive={item.index === activeIndex}
              isChosen={id === chosen}
              isFound={found.has(id)}
              events={id === chosen ? events : NO_EVENTS}
              onToggle={() => close(id, !closed.has(id))}
              onChoose={() => {
                tree.current?.focus({ preventScroll: true })
                setActive(id)
                onChoose(id)
              }}
              top={item.start}
              height={item.size}
            />
          )
        })}
      </div>
    </div>
  )
}

/** What is chosen by other means, a link, a search or the graph, becomes the active row. */
function useActive(chosen: string | undefined) {
  const [active, setActive] = useState(chosen)
  const [before, setBefore] = useState(chosen)
  if (before !== chosen) {
    setBefore(chosen)
    setActive(chosen)
  }
  return [active, setActive] as const
}

/** Room for a label and some air. */
const TICK_WIDTH = 84

function AxisRow({ drawn: { axis, origin } }: { readonly drawn: Drawn }) {
  const [area, width] = useWidth<HTMLDivElement>()
  const ticks = ticksOf(axis, Math.floor(width / TICK_WIDTH), origin)
  return (
    <div
      aria-hidden
      className={cn(
        TRACKS,
        "sticky top-0 z-10 h-8 items-center border-b border-line bg-sunken text-xs text-muted",
      )}
    >
      <span className="px-3 font-medium max-md:hidden">Invocation</span>
      <div ref={area} className="relative mx-3 h-full">
        {width === 0
          ? null
          : ticks.map(({ at, label }) => (
              <span
                key={label}
                className="absolute bottom-0 flex h-full items-center border-l border-line-strong pl-1 whitespace-nowrap tabular-nums"
                style={{ left: `${at * 100}%` }}
              >
                {/* None that would stick out. */}
                {(1 - at) * width < 56 ? "" : label}
              </span>
            ))}
      </div>
    </div>
  )
}
