/** Views of a list that somebody keeps by name: a name and what the address says, nothing else. */

import { parseSearch, stringifySearch } from "@/config/urlState"
import { listSearch, type ListSearch } from "@/features/invocations/search"

export interface View {
  readonly name: string
  readonly search: ListSearch
}

export const MOST_VIEWS = 30
export const MOST_LETTERS = 60

/** Offered to everybody. */
export const USUAL_VIEWS: ReadonlyArray<View> = [
  { name: "Failed in the last hour", search: { status: "failed", last: "1h" } },
  { name: "Timed out in the last 24 hours", search: { status: "timed_out", last: "24h" } },
  { name: "Slowest of the last 24 hours", search: { last: "24h", order: "slowest" } },
  { name: "Running", search: { status: "running" } },
]

/** What was kept; what cannot be read counts as nothing, and every filter is checked like one in an address. */
export function viewsOf(kept: string | undefined): ReadonlyArray<View> {
  try {
    const found: unknown = JSON.parse(kept ?? "[]")
    if (!Array.isArray(found)) return []
    return found.flatMap((entry: unknown) => viewOf(entry) ?? []).slice(0, MOST_VIEWS)
  } catch {
    return []
  }
}

export function textOf(views: ReadonlyArray<View>): string {
  return JSON.stringify(views.map(({ name, search }) => [name, stringifySearch({ ...search })]))
}

/** The newest is last; one of the same name is replaced. */
export function withView(views: ReadonlyArray<View>, view: View): ReadonlyArray<View> {
  const name = view.name.trim().slice(0, MOST_LETTERS)
  if (name === "") return views
  return [...withoutView(views, name), { ...view, name }].slice(-MOST_VIEWS)
}

export function withoutView(views: ReadonlyArray<View>, name: string): ReadonlyArray<View> {
  return views.filter((view) => view.name !== name)
}

/** Two views that show the same. */
export function isSameView(one: ListSearch, other: ListSearch): boolean {
  const text = (search: ListSearch) => stringifySearch({ ...listSearch({ ...search }) })
  return text(one) === text(other)
}

function viewOf(entry: unknown): View | undefined {
  if (!Array.isArray(entry)) return undefined
  const [name, search] = entry as ReadonlyArray<unknown>
  if (typeof name !== "string" || typeof search !== "string" || name.length > MOST_LETTERS) return undefined
  return { name, search: listSearch(parseSearch(search)) }
}
