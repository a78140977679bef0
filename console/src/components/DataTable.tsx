/** A table of any length: only the rows in view are in the page, the end of the list asks for more. */

import { useVirtualizer } from "@tanstack/react-virtual"
import { memo, useEffect, useRef, type ReactNode } from "react"

import { cn } from "@/components/classes"

export interface Column<Row> {
  readonly name: string
  /** A track of a CSS grid: "minmax(0,2fr)", "7rem". */
  readonly width: string
  readonly cell: (row: Row) => ReactNode
  readonly align?: "end"
  /** Left out on narrow screens. */
  readonly wideOnly?: boolean
}

interface DataTableProps<Row> {
  readonly label: string
  readonly columns: ReadonlyArray<Column<Row>>
  readonly rows: ReadonlyArray<Row>
  readonly keyOf: (row: Row) => string
  readonly rowHeight?: number
  readonly isMarked?: (row: Row) => boolean
  /** Called when the last rows come into view; omit when everything is there. */
  readonly onEnd?: () => void
  readonly loadingMore?: boolean
  readonly className?: string
}

export function DataTable<Row>(props: DataTableProps<Row>) {
  const {
    label,
    columns,
    rows,
    keyOf,
    rowHeight = 40,
    isMarked,
    onEnd,
    loadingMore = false,
    className,
  } = props
  const scroller = useRef<HTMLDivElement>(null)
  // oxlint-disable-next-line react/incompatible-library
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 8,
    getItemKey: (index) => keyOf(rows[index] as Row),
  })
  const shown = virtual.getVirtualItems()
  const last = shown.at(-1)?.index ?? -1
  useEffect(() => {
    if (onEnd && last >= rows.length - 1 && rows.length > 0) onEnd()
  }, [onEnd, last, rows.length])
  return (
    <div
      ref={scroller}
      // A region that scrolls must be reachable with the keyboard.
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      className={cn(
        "max-h-[70dvh] overflow-auto rounded-lg border border-line bg-surface focus-visible:-outline-offset-2",
        className,
      )}
    >
      <div role="table" aria-label={label} aria-rowcount={rows.length + 1} className="min-w-full text-sm">
        <div role="rowgroup" className="sticky top-0 z-10">
          <TableRow
            columns={columns}
            index={1}
            className="border-b border-line bg-sunken text-xs font-medium text-muted"
          >
            {(column) => ({ role: "columnheader", content: column.name })}
          </TableRow>
        </div>
        <div role="rowgroup" className="relative" style={{ height: virtual.getTotalSize() }}>
          {shown.map((item) => {
            const row = rows[item.index] as Row
            return (
              <BodyRow
                key={item.key}
                columns={columns as ReadonlyArray<Column<unknown>>}
                row={row}
                index={item.index + 2}
                isMarked={isMarked?.(row) === true}
                height={item.size}
                top={item.start}
              />
            )
          })}
        </div>
      </div>
      {loadingMore ? (
        <p role="status" className="px-4 py-2 text-sm text-muted">
          Loading more…
        </p>
      ) : null}
    </div>
  )
}

interface BodyRowProps {
  readonly columns: ReadonlyArray<Column<unknown>>
  readonly row: unknown
  readonly index: number
  readonly isMarked: boolean
  readonly height: number
  readonly top: number
}

/** Rendered again only when its data changed, and with a layout of its own: both keep scrolling smooth. */
const BodyRow = memo(function BodyRow({ columns, row, index, isMarked, height, top }: BodyRowProps) {
  return (
    <TableRow
      columns={columns}
      index={index}
      className={cn(
        "absolute inset-x-0 border-b border-line contain-strict hover:bg-hover",
        isMarked && "bg-accent-soft",
      )}
      style={{ height, transform: `translateY(${top}px)` }}
    >
      {(column) => ({ role: "cell", content: column.cell(row) })}
    </TableRow>
  )
})

interface TableRowProps<Row> {
  readonly columns: ReadonlyArray<Column<Row>>
  readonly index: number
  readonly className?: string
  readonly style?: React.CSSProperties
  readonly children: (column: Column<Row>) => { role: "cell" | "columnheader"; content: ReactNode }
}

function TableRow<Row>({ columns, index, className, style, children }: TableRowProps<Row>) {
  const wide = columns.map((column) => column.width).join(" ")
  const narrow = columns.filter((column) => column.wideOnly !== true).map((column) => column.width)
  return (
    <div
      role="row"
      aria-rowindex={index}
      className={cn(
        "grid grid-cols-(--narrow) items-center gap-x-3 px-3 py-2 md:grid-cols-(--wide) md:gap-x-4 md:px-4",
        className,
      )}
      style={{ ...style, "--wide": wide, "--narrow": narrow.join(" ") } as React.CSSProperties}
    >
      {columns.map((column) => {
        const { role, content } = children(column)
        return (
          <div
            key={column.name}
            role={role}
            className={cn(
              "min-w-0 truncate",
              column.align === "end" && "text-right tabular-nums",
              column.wideOnly === true && "hidden md:block",
            )}
          >
            {content}
          </div>
        )
      })}
    </div>
  )
}
