/** Rows of a result as a table, its cells whole; a long one shows its first rows until more are wanted. */

import { memo, useState } from "react"

import type { Json, JsonObject } from "@/api/contract.gen"
import { isList } from "@/api/json"
import { Button } from "@/components/Button"
import { count } from "@/components/format"
import type { Table } from "@/features/playground/shape"

const PAGE_ROWS = 200

export function ResultTable({ table }: { readonly table: Table }) {
  const [limit, setLimit] = useState(PAGE_ROWS)
  const rest = table.rows.length - limit
  return (
    <div className="space-y-2">
      <div
        role="region"
        aria-label="Output"
        // A region that scrolls must be reachable with the keyboard.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        className="max-h-[32rem] overflow-auto rounded-md border border-line"
      >
        <table className="w-full text-left text-sm">
          {table.name === undefined ? null : (
            <caption className="border-b border-line bg-sunken px-3 py-1.5 text-left id-text text-muted">
              {table.name}
            </caption>
          )}
          <thead className="sticky top-0 bg-sunken text-xs text-muted">
            <tr>
              {table.columns.map((column) => (
                <th key={column} scope="col" className="px-3 py-1.5 font-medium whitespace-nowrap">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody className="divide-y divide-line">
            {table.rows.slice(0, limit).map((row, index) => (
              <Row key={index} row={row} columns={table.columns.join("\n")} />
            ))}
          </tbody>
        </table>
      </div>
      {rest > 0 ? (
        <Button size="small" onClick={() => setLimit(limit + PAGE_ROWS)}>
          Show {count(Math.min(rest, PAGE_ROWS))} more of {count(rest)}
        </Button>
      ) : null}
    </div>
  )
}

/** Not drawn again while others are added; the columns are one text for that. */
const Row = memo(function Row({ row, columns }: { readonly row: JsonObject; readonly columns: string }) {
  return (
    <tr>
      {columns.split("\n").map((column) => (
        <td key={column} className="min-w-16 px-3 py-2 align-top break-words tabular-nums">
          {cell(row[column])}
        </td>
      ))}
    </tr>
  )
})

function cell(value: Json | undefined): string {
  if (value === undefined || value === null) return "–"
  if (isList(value)) return value.map((item) => cell(item)).join(", ")
  return typeof value === "string" ? value : JSON.stringify(value)
}
