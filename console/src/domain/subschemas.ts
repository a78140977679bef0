/** A subschema and the document its references count from, known by identity; sets of them that apply together. */

import type { Json, JsonObject } from "@/api/contract.gen"
import { isList, isObject, pointerSteps } from "@/api/json"

/** Of ways through schemas; what lies deeper is not decided. */
export const MAX_DEPTH = 24
const KEY_CHARACTERS_PER_STEP = 64
const UNSUPPORTED = ["$dynamicRef", "$recursiveRef"]

/** The schema leaves the part of the dialect that is decided here, or grows too large in it. */
export class Undecided extends Error {}

/** What may still be spent on one question. */
export class Steps {
  constructor(private left: number) {}

  spend(steps: number): void {
    this.left -= steps
    if (this.left < 0) throw new Undecided()
  }
}

/** Subschemas of which all must hold. */
export type Together = ReadonlyArray<Subschema>

/** One place of one document. Two places are never equal, however they read. */
export class Subschema {
  readonly keywords: JsonObject
  private readonly lists = new Map<string, ReadonlyArray<Together>>()
  private readonly names = new Map<string, ReadonlyMap<string, Together>>()

  constructor(
    readonly document: SchemaDocument | undefined,
    readonly number: number,
    readonly schema: JsonObject | false,
  ) {
    this.keywords = schema === false ? {} : schema
  }

  has(keyword: string): boolean {
    return Object.hasOwn(this.keywords, keyword)
  }

  /** The keyword's value; undefined when it is absent, whatever objects inherit. */
  get(keyword: string): Json | undefined {
    return this.has(keyword) ? this.keywords[keyword] : undefined
  }

  numberAt(keyword: string): number | undefined {
    const found = this.get(keyword)
    return typeof found === "number" ? found : undefined
  }

  /** Whether its references mean what they say: no dynamic scope, no resource of its own. */
  get isSupported(): boolean {
    const atRoot = this.document?.root === this
    return !UNSUPPORTED.some((keyword) => this.has(keyword)) && (atRoot || !this.has("$id"))
  }

  /** What applies where the schema, found inside this one, does; nothing for true. */
  child(schema: Json | undefined): Together {
    if (schema === true || schema === undefined) return []
    return this.document === undefined || !isObject(schema) ? [NEVER] : [this.document.subschema(schema)]
  }

  childAt(keyword: string): Together {
    return this.child(this.get(keyword))
  }

  target(): Subschema | undefined {
    return this.document?.resolve(this.get("$ref"))
  }

  listed(keyword: string): ReadonlyArray<Together> {
    const known = this.lists.get(keyword)
    if (known !== undefined) return known
    const value = this.get(keyword)
    const found = isList(value) ? value.map((one) => this.child(one)) : []
    this.lists.set(keyword, found)
    return found
  }

  named(keyword: string): ReadonlyMap<string, Together> {
    const known = this.names.get(keyword)
    if (known !== undefined) return known
    const value = this.get(keyword)
    const entries = isObject(value) ? Object.entries(value) : []
    const found = new Map(entries.map(([name, one]) => [name, this.child(one)]))
    this.names.set(keyword, found)
    return found
  }
}

const NEVER = new Subschema(undefined, 0, false)

/** The subschemas of one document, numbered in the order in which they are met. */
export class SchemaDocument {
  readonly root: Subschema
  readonly anything: Subschema
  private readonly known = new Map<JsonObject, Subschema>()

  constructor(schema: JsonObject) {
    this.root = this.subschema(schema)
    this.anything = this.subschema({})
  }

  subschema(schema: JsonObject): Subschema {
    const known = this.known.get(schema)
    if (known !== undefined) return known
    const made = new Subschema(this, 1 + this.known.size, schema)
    this.known.set(schema, made)
    return made
  }

  /** Undefined when it is not found by a plain pointer. */
  resolve(reference: Json | undefined): Subschema | undefined {
    if (typeof reference !== "string" || !reference.startsWith("#")) return undefined
    const fragment = decoded(reference.slice(1))
    if (fragment === undefined || (fragment !== "" && !fragment.startsWith("/"))) return undefined
    let target: Json | undefined = this.root.schema
    for (const step of pointerSteps(fragment)) {
      target = inside(target, step)
      if (isObject(target) && Object.hasOwn(target, "$id")) return undefined
    }
    if (target === true) return this.anything
    if (target === false) return NEVER
    return isObject(target) ? this.subschema(target) : undefined
  }
}

function inside(target: Json | undefined, step: string): Json | undefined {
  if (isList(target)) return target[Number(step)]
  return isObject(target) && Object.hasOwn(target, step) ? target[step] : undefined
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Equal for values that JSON Schema takes for equal. */
export function valueKey(value: Json, steps: Steps): string {
  const key = canonical(value)
  steps.spend(Math.floor(key.length / KEY_CHARACTERS_PER_STEP))
  return key
}

/** The same text for values that differ in the order of members only. */
export function canonical(value: Json): string {
  if (isList(value)) return `[${value.map(canonical).join()}]`
  if (!isObject(value)) return JSON.stringify(value)
  const names = Object.keys(value).sort()
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name] ?? null)}`).join()}}`
}
