/** Where the time of a Trace went: what each Invocation did itself, and the critical path, which alone decides when the Trace ends. */

import type { InvocationRecord } from "@/api/contract.gen"
import { grouped } from "@/components/groups"
import { micros } from "@/components/instants"
import { isFailure, stateOf } from "@/domain/invocationState"
import { nodeKeyOf } from "@/features/trace/graph"
import { rowsInView, type Branch } from "@/features/trace/lineage"
import { endOf } from "@/features/trace/timeAxis"

/** Microseconds since 1970. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** By Invocation id. */
export type SpansById = ReadonlyMap<string, ReadonlyArray<Span>>

const NONE: ReadonlySet<string> = new Set()

/** When each Invocation ran while none of those it called did. */
export function selfSpans(tree: ReadonlyArray<Branch>, now: number): SpansById {
  return new Map(
    rowsInView(tree, NONE).map((branch) => [
      branch.record.invocationId,
      without(
        spanOf(branch, now),
        branch.children.map((child) => spanOf(child, now)),
      ),
    ]),
  )
}

/**
 * Backwards from the end of the root that ends last: an Invocation is on the path while it works itself, and whenever it
 * waits, the call that ended last is.
 */
export function criticalPath(tree: ReadonlyArray<Branch>, now: number): SpansById {
  const path = new Map<string, Span[]>()
  const last = [...tree].sort((a, b) => spanOf(b, now).end - spanOf(a, now).end)[0]
  if (last !== undefined) follow(last, Infinity, now, path)
  return path
}

function follow(branch: Branch, until: number, now: number, path: Map<string, Span[]>): void {
  const { start, end } = spanOf(branch, now)
  const own: Span[] = []
  path.set(branch.record.invocationId, own)
  let at = Math.min(end, until)
  const work = (from: number) => {
    if (from < at) own.unshift({ start: from, end: at })
  }
  const called = branch.children.map((child) => ({ child, ...spanOf(child, now) }))
  for (const { child, ...span } of called.sort((a, b) => b.end - a.end)) {
    // One that outlives its caller held it up until the caller's end at most.
    const ended = Math.min(span.end, end, until)
    if (ended > at || span.start >= at || at <= start) continue
    work(ended)
    follow(child, ended, now, path)
    at = Math.max(start, span.start)
  }
  work(start)
}

export function total(spans: ReadonlyArray<Span> | undefined): number {
  return (spans ?? []).reduce((sum, span) => sum + span.end - span.start, 0)
}

/** The numbers of one Skill of an Agent version in a Trace; microseconds. */
export interface SkillTime {
  readonly key: string
  readonly agentId: string
  readonly version: string
  readonly capability: string
  readonly calls: number
  readonly failed: number
  /** From the start to the end of each, added up: more than the Trace took where calls overlap. */
  readonly total: number
  readonly self: number
  readonly slowest: number
  /** The slowest, to look at. */
  readonly example: InvocationRecord
}

/** The Skills that worked longest themselves come first. */
export function skillTimes(tree: ReadonlyArray<Branch>, now: number): ReadonlyArray<SkillTime> {
  const own = selfSpans(tree, now)
  const groups = grouped(rowsInView(tree, NONE), ({ record }) => nodeKeyOf(record))
  const times = [...groups].flatMap(([key, branches]) => {
    const slowestFirst = [...branches].sort((a, b) => length(b, now) - length(a, now))
    const [slowest] = slowestFirst
    if (slowest === undefined) return []
    const { targetAgentId: agentId, agentCardVersion: version, capability } = slowest.record
    return {
      ...{ key, agentId, version, capability, calls: branches.length },
      failed: branches.filter(({ record }) => isFailure(stateOf(record, now))).length,
      total: branches.reduce((sum, branch) => sum + length(branch, now), 0),
      self: branches.reduce((sum, { record }) => sum + total(own.get(record.invocationId)), 0),
      slowest: length(slowest, now),
      example: slowest.record,
    }
  })
  return times.sort((a, b) => b.self - a.self)
}

/** A Skill in one Trace, in another, or in both. */
export interface SkillPair {
  readonly key: string
  readonly left?: SkillTime
  readonly right?: SkillTime
  /** Microseconds of self time that the right one took more. */
  readonly more: number
}

/** The greatest difference of self time first. */
export function skillPairs(
  left: ReadonlyArray<SkillTime>,
  right: ReadonlyArray<SkillTime>,
): ReadonlyArray<SkillPair> {
  const [lefts, rights] = [left, right].map((times) => new Map(times.map((time) => [time.key, time])))
  const keys = new Set([...left, ...right].map((time) => time.key))
  const pairs = [...keys].map((key) => {
    const pair = { key, left: lefts?.get(key), right: rights?.get(key) }
    return { ...pair, more: (pair.right?.self ?? 0) - (pair.left?.self ?? 0) }
  })
  return pairs.sort((a, b) => Math.abs(b.more) - Math.abs(a.more))
}

function spanOf({ record }: Branch, now: number): Span {
  return { start: micros(record.createdAt), end: endOf(record, now) }
}

function length(branch: Branch, now: number): number {
  const { start, end } = spanOf(branch, now)
  return end - start
}

/** What is left of a span when others are taken out. */
function without({ start, end }: Span, others: ReadonlyArray<Span>): ReadonlyArray<Span> {
  const left: Span[] = []
  let at = start
  for (const other of [...others].sort((a, b) => a.start - b.start)) {
    if (other.start > at) left.push({ start: at, end: Math.min(other.start, end) })
    at = Math.max(at, other.end)
    if (at >= end) return left.filter((span) => span.start < span.end)
  }
  return [...left, { start: at, end }].filter((span) => span.start < span.end)
}
