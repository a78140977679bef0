/** What schemas say together of one member of an object. */

import type { Members } from "@/domain/compatibility/shapes"
import { together, type Together } from "@/domain/compatibility/subschemas"

const MAX_OPTIONS = 16

/**
 * What the schemas may say of a member: one of these. Without a name, of one that no `properties` names. The name
 * matches none of the patterns in `unmatched`.
 */
export function memberOptions(
  members: ReadonlyArray<Members>,
  name: string | undefined,
  unmatched: ReadonlyMap<string, unknown> = new Map(),
): ReadonlyArray<Together> {
  let parts = members.map((each) => {
    const named = name === undefined ? undefined : each.properties.get(name)
    if (named !== undefined) return [named]
    const matched = [...each.patterns].filter(([pattern]) => !unmatched.has(pattern))
    return [...matched.map(([, schemas]) => schemas), each.other]
  })
  if (parts.reduce((count, options) => count * options.length, 1) > MAX_OPTIONS)
    parts = parts.filter((options) => options.length === 1)
  return parts
    .reduce<ReadonlyArray<ReadonlyArray<Together>>>(
      (found, options) => found.flatMap((taken) => options.map((option) => [...taken, option])),
      [[]],
    )
    .map((option) => together(...option))
}

/** What surely applies to a member whose name matches the pattern; `named` says that `properties` may have it. */
export function matching(members: ReadonlyArray<Members>, pattern: string, named: boolean): Together {
  const found = members.flatMap((each) => {
    const schemas = each.patterns.get(pattern)
    return schemas === undefined ? [] : [schemas]
  })
  const other = named ? [] : members.filter((each) => each.patterns.size === 0).map((each) => each.other)
  return together(...found, ...other)
}
