/** How a result is best shown: as text, as a table, or as a tree; chosen by its shape alone. */

import type { Json, JsonObject } from "@/api/contract.gen"
import { isList, isObject, isScalar } from "@/api/json"

export interface Table {
  /** The member that holds the rows; absent when the value itself is the list. */
  readonly name?: string
  readonly columns: ReadonlyArray<string>
  readonly rows: ReadonlyArray<JsonObject>
}

export type Shape =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "table"; readonly table: Table }
  | { readonly kind: "tree" }

const MAX_COLUMNS = 8

export function shapeOf(value: Json): Shape {
  if (typeof value === "string") return { kind: "text", text: value }
  const rows = rowsOf(value)
  return rows === undefined ? { kind: "tree" } : tableOr(rows.name, rows.rows)
}

/** The shape of all chunks together: text that goes on, rows that are added, else one value after the other. */
export function shapeOfChunks(chunks: ReadonlyArray<Json>): Shape {
  if (chunks.length === 0) return { kind: "tree" }
  if (chunks.every((chunk) => typeof chunk === "string")) return { kind: "text", text: chunks.join("") }
  if (chunks.every(isRow)) return tableOr(undefined, chunks)
  const parts = chunks.map(rowsOf)
  const name = parts[0]?.name
  const isOneList = parts.every((part) => part !== undefined && part.name === name)
  return isOneList
    ? tableOr(
        name,
        parts.flatMap((part) => part?.rows ?? []),
      )
    : { kind: "tree" }
}

function tableOr(name: string | undefined, rows: ReadonlyArray<JsonObject>): Shape {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const fits = rows.length > 0 && columns.length > 0 && columns.length <= MAX_COLUMNS
  return fits ? { kind: "table", table: { name, columns, rows } } : { kind: "tree" }
}

/** A list of rows, or the one list of rows an object consists of; a list without items is one of no rows. */
function rowsOf(
  value: Json,
): { readonly name?: string; readonly rows: ReadonlyArray<JsonObject> } | undefined {
  if (isList(value)) return value.every(isRow) ? { rows: value } : undefined
  if (!isObject(value)) return undefined
  const [only, ...others] = Object.entries(value)
  if (only === undefined || others.length > 0) return undefined
  const [name, inner] = only
  return isList(inner) && inner.every(isRow) ? { name, rows: inner } : undefined
}

/** An object whose members can each stand in one cell. */
function isRow(value: Json): value is JsonObject {
  return isObject(value) && Object.keys(value).length > 0 && Object.values(value).every(isCell)
}

function isCell(value: Json): boolean {
  return isScalar(value) || (isList(value) && value.every(isScalar))
}
