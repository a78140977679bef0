/** What changed between two versions of an Agent, as far as it concerns those who use it. */

import type { AgentCard, AgentCardSkill, JsonObject } from "@/api/contract.gen"
import { bytes, duration } from "@/components/format"
import { schemaOutline, type SchemaMember } from "@/domain/schemaOutline"
import { canonical } from "@/domain/subschemas"

export interface Change {
  readonly kind: "added" | "removed" | "changed"
  readonly what: string
  readonly from?: string
  readonly to?: string
  /** Callers of the older version may no longer work, or the owner has to agree again. */
  readonly notable: boolean
}

export interface ChangeGroup {
  readonly title: string
  readonly changes: ReadonlyArray<Change>
}

type Compared = Pick<AgentCard, "name" | "description" | "skills" | "permissions" | "limits"> &
  Partial<Pick<AgentCard, "authentication" | "protocol">>

/** Groups without a change are left out; two equal versions give none. */
export function versionDifference(older: Compared, newer: Compared): ReadonlyArray<ChangeGroup> {
  const skills = byId(older.skills, newer.skills)
  return [
    { title: "Permissions", changes: permissionChanges(older, newer) },
    { title: "Skills", changes: skillListChanges(skills) },
    ...skills.both.flatMap(([before, after]) => skillGroups(before, after)),
    { title: "Limits", changes: limitChanges(older.limits, newer.limits) },
    { title: "About", changes: aboutChanges(older, newer) },
  ].filter((group) => group.changes.length > 0)
}

function permissionChanges(older: Compared, newer: Compared): Change[] {
  const { added, removed, both } = byId(older.permissions, newer.permissions)
  return [
    ...added.map(({ id, description }): Change => ({
      kind: "added",
      what: id,
      to: description,
      notable: true,
    })),
    ...removed.map(({ id, description }): Change => ({
      kind: "removed",
      what: id,
      from: description,
      notable: false,
    })),
    ...both.flatMap(([before, after]) => changed(before.id, before.description, after.description)),
  ]
}

function skillListChanges({ added, removed }: Paired<AgentCardSkill>): Change[] {
  return [
    ...added.map(({ id, name }): Change => ({ kind: "added", what: id, to: name, notable: false })),
    ...removed.map(({ id, name }): Change => ({ kind: "removed", what: id, from: name, notable: true })),
  ]
}

function skillGroups(before: AgentCardSkill, after: AgentCardSkill): ChangeGroup[] {
  const needs = [
    ...after.requiredPermissions
      .filter((id) => !before.requiredPermissions.includes(id))
      .map((id): Change => ({ kind: "added", what: `needs ${id}`, notable: true })),
    ...before.requiredPermissions
      .filter((id) => !after.requiredPermissions.includes(id))
      .map((id): Change => ({ kind: "removed", what: `needs ${id}`, notable: false })),
  ]
  const texts = [
    ...changed("name", before.name, after.name),
    ...changed("description", before.description, after.description),
  ]
  return [
    { title: `Skill ${after.id}`, changes: [...needs, ...texts] },
    {
      title: `Skill ${after.id}: input`,
      changes: schemaChanges(before.inputSchema, after.inputSchema, "input"),
    },
    {
      title: `Skill ${after.id}: output`,
      changes: schemaChanges(before.outputSchema, after.outputSchema, "output"),
    },
  ]
}

function schemaChanges(before: JsonObject, after: JsonObject, side: "input" | "output"): Change[] {
  const name = (member: SchemaMember) => (member.path === "" ? "(value)" : member.path)
  const keyed = (schema: JsonObject) =>
    schemaOutline(schema).map((member) => ({ ...member, id: member.path }))
  const { added, removed, both } = byId(keyed(before), keyed(after))
  const changes = [
    ...added.map((member): Change => ({
      ...{ kind: "added", what: name(member), to: describe(member) },
      notable: side === "input" && member.required,
    })),
    ...removed.map((member): Change => ({
      kind: "removed",
      what: name(member),
      from: describe(member),
      notable: true,
    })),
    ...both.flatMap(([old, now]) =>
      changed(name(now), describe(old), describe(now)).map((change) => ({
        ...change,
        notable: isNotable(old, now, side),
      })),
    ),
  ]
  if (changes.length > 0 || canonical(before) === canonical(after)) return changes
  return [{ kind: "changed", what: "details that only the JSON shows", notable: false }]
}

function isNotable(before: SchemaMember, after: SchemaMember, side: "input" | "output"): boolean {
  if (before.type !== after.type) return true
  return side === "input" ? after.required && !before.required : before.required && !after.required
}

function describe(member: SchemaMember): string {
  const need = member.required && member.path !== "" ? ["required"] : []
  return [member.type, ...need, ...member.bounds].join(", ")
}

function limitChanges(before: AgentCard["limits"], after: AgentCard["limits"]): Change[] {
  const lower = (was: number, is: number) => is < was
  return [
    ...noted(
      changed("time limit", duration(before.timeoutMs), duration(after.timeoutMs)),
      lower(before.timeoutMs, after.timeoutMs),
    ),
    ...noted(
      changed("largest input", bytes(before.maxInputBytes), bytes(after.maxInputBytes)),
      lower(before.maxInputBytes, after.maxInputBytes),
    ),
    ...noted(
      changed("largest output", bytes(before.maxOutputBytes), bytes(after.maxOutputBytes)),
      lower(before.maxOutputBytes, after.maxOutputBytes),
    ),
    ...noted(
      changed("streaming", yes(before.streaming), yes(after.streaming)),
      before.streaming && !after.streaming,
    ),
  ]
}

function aboutChanges(older: Compared, newer: Compared): Change[] {
  return [
    ...changed("name", older.name, newer.name),
    ...changed("description", older.description, newer.description),
    ...changed("authentication", older.authentication?.type, newer.authentication?.type),
    ...changed("endpoint", older.protocol?.endpoint, newer.protocol?.endpoint),
  ]
}

function changed(what: string, from: string | undefined, to: string | undefined): Change[] {
  return from === to ? [] : [{ kind: "changed", what, from, to, notable: false }]
}

function noted(changes: Change[], notable: boolean): Change[] {
  return changes.map((change) => ({ ...change, notable }))
}

function yes(value: boolean): string {
  return value ? "yes" : "no"
}

interface Paired<Item> {
  readonly added: ReadonlyArray<Item>
  readonly removed: ReadonlyArray<Item>
  readonly both: ReadonlyArray<readonly [Item, Item]>
}

function byId<Item extends { readonly id: string }>(
  older: ReadonlyArray<Item>,
  newer: ReadonlyArray<Item>,
): Paired<Item> {
  const before = new Map(older.map((item) => [item.id, item]))
  const after = new Set(newer.map((item) => item.id))
  return {
    added: newer.filter((item) => !before.has(item.id)),
    removed: older.filter((item) => !after.has(item.id)),
    both: newer.flatMap((item) => {
      const old = before.get(item.id)
      return old === undefined ? [] : [[old, item] as const]
    }),
  }
}
