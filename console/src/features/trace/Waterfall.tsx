/** All Invocations of a Trace as bars on one time axis, the called below and inside their caller. */

import { useVirtualizer } from "@tanstack/react-virtual"
import { useEffect, useMemo, useRef, useState } from "react"

import type { InvocationEvent, InvocationRecord } from "@/api/contract.gen"
import { cn } from "@/components/classes"
import { ancestorsOf, lineageTree, rowsInView } from "@/features/trace/lineage"
import { useTreeKeys } from "@/features/trace/useTreeKeys"
import { axisOf, ticksOf } from "@/features/trace/waterfall"
import { TRACKS, WaterfallRow } from "@/features/trace/WaterfallRow"

interface WaterfallProps {
  readonly records: ReadonlyArray<InvocationRecord>
  readonly now: number
  readonly chosen: string
  readonly events: ReadonlyArray<InvocationEvent>
  readonly withDeadlines: boolean
  readonly onChoose: (id: string) => void
}

const ROW = 44
const NO_EVENTS: ReadonlyArray<InvocationEvent> = []
const rowId = (id: string) => `row-${id}`

export function Waterfall({ records, now, chosen, events, withDeadlines, onChoose }: WaterfallProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const tree = useRef<HTMLDivElement>(null)
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  const [active, setActive] = useState(chosen)
  const branches = useMemo(() => lineageTree(records), [records])
  const rows = useMemo(() => rowsInView(branches, closed), [branches, closed])
  const axis = useMemo(() => axisOf(records, now, withDeadlines), [records, now, withDeadlines])
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 10,
    scrollPaddingStart: 2 * ROW,
  })
  const indexOf = (id: string) => rows.findIndex((row) => row.record.invocationId === id)
  const activeIndex = Math.max(0, indexOf(active))
  const close = (id: string, isClosed: boolean) =>
    setClosed((before) => {
      const next = new Set(before)
      if (isClosed) next.add(id)
      else next.delete(id)
      return next
    })
  const move = (index: number) => {
    setActive(rows[index]?.record.invocationId ?? active)
    virtual.scrollToIndex(index)
  }
  const onKeyDown = useTreeKeys({
    rows,
    active: activeIndex,
    closed,
    onMove: move,
    onClose: close,
    onChoose,
  })
  useRevealed(chosen, records, setClosed, setActive)
  const chosenIndex = indexOf(chosen)
  useEffect(() => {
    if (chosenIndex >= 0) virtual.scrollToIndex(chosenIndex)
    // Only when another one is chosen; a tree that grows stays where it is.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [chosen])
  const shown = virtual.getVirtualItems()
  const isShown = shown.some((item) => item.index === activeIndex)
  return (
    <div ref={scroller} className="max-h-[60dvh] overflow-y-auto rounded-lg border border-line bg-surface">
      <AxisRow axis={axis} />
      <div
        ref={tree}
        role="tree"
        aria-label="Waterfall"
        tabIndex={0}
        aria-activedescendant={isShown ? rowId(rows[activeIndex]?.record.invocationId ?? "") : undefined}
        className="group/tree relative outline-none"
        style={{ height: virtual.getTotalSize() }}
        onKeyDown={onKeyDown}
      >
        {shown.map((item) => {
          const branch = rows[item.index]
          if (branch === undefined) return null
          const id = branch.record.invocationId
          return (
            <WaterfallRow
              key={id}
              id={rowId(id)}
              branch={branch}
              axis={axis}
              now={now}
              isClosed={closed.has(id) && branch.children.length > 0}
              isActive={item.index === activeIndex}
              isChosen={id === chosen}
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

/** What is chosen by other means, a link or the graph, is opened up and becomes the active row. */
function useRevealed(
  chosen: string,
  records: ReadonlyArray<InvocationRecord>,
  setClosed: (change: (before: ReadonlySet<string>) => ReadonlySet<string>) => void,
  setActive: (id: string) => void,
) {
  const [revealed, setRevealed] = useState(chosen)
  if (revealed === chosen) return
  setRevealed(chosen)
  setActive(chosen)
  const above = new Set(ancestorsOf(chosen, records))
  setClosed((before) => new Set([...before].filter((id) => !above.has(id))))
}

function AxisRow({ axis }: { readonly axis: ReturnType<typeof axisOf> }) {
  return (
    <div
      aria-hidden
      className={`${TRACKS} sticky top-0 z-10 h-8 items-center border-b border-line bg-sunken text-xs text-muted`}
    >
      <span className="px-2 font-medium">Invocation</span>
      <div className="relative mr-4 h-full">
        {ticksOf(axis, 5).map(({ at, label }, index) => (
          <span
            key={at}
            className={cn(
              "absolute bottom-0 flex h-full items-center border-l border-line-strong pl-1 whitespace-nowrap tabular-nums",
              index % 2 === 1 && "max-md:hidden", // where there is little room
            )}
            style={{ left: `${at * 100}%` }}
          >
            {/* None that would stick out. */}
            <span className={at > 0.7 ? "max-md:hidden" : undefined}>{at > 0.88 ? "" : label}</span>
          </span>
        ))}
      </div>
    </div>
  )
}
