/** What a typed or pasted text means: an id of the platform, a share link, or words, perhaps after a verb. */

import { PATTERNS } from "@/api/contract.gen"
import { publicAgentIdOf } from "@/config/shareLink"

/** Ids that name one thing by their form alone. */
export type IdKind = "invocation" | "trace" | "release" | "binding" | "installation" | "publicAgent"

export type Verb = "install" | "try"

export type Meaning =
  | { readonly kind: "nothing" }
  | { readonly kind: "id"; readonly of: IdKind; readonly id: string }
  | {
      readonly kind: "words"
      readonly verb?: Verb
      readonly words: string
      /** The text as the id of an Agent or Workspace, when it has the form of one. */
      readonly identifier?: string
    }

const FORMS: ReadonlyArray<readonly [IdKind, RegExp]> = [
  ["invocation", PATTERNS.invocationId],
  ["trace", PATTERNS.traceId],
  ["release", PATTERNS.releaseId],
  ["binding", PATTERNS.bindingId],
  ["installation", PATTERNS.installationId],
  ["publicAgent", PATTERNS.publicAgentId],
]

const VERBS: ReadonlyArray<readonly [Verb, RegExp]> = [
  ["install", /^install\s+(?=\S)/i],
  ["try", /^(?:try|run|invoke)\s+(?=\S)/i],
]

export function meaningOf(typed: string, shareOrigin: string): Meaning {
  const text = typed.trim()
  if (text === "") return { kind: "nothing" }
  const shared = publicAgentIdOf(text, shareOrigin)
  if (shared !== undefined) return { kind: "id", of: "publicAgent", id: shared }
  const form = FORMS.find(([, pattern]) => pattern.test(text))
  if (form !== undefined) return { kind: "id", of: form[0], id: text }
  const verb = VERBS.find(([, pattern]) => pattern.test(text))
  const words = verb === undefined ? text : text.replace(verb[1], "")
  return {
    kind: "words",
    verb: verb?.[0],
    words,
    identifier: PATTERNS.safeIdentifier.test(words) ? words : undefined,
  }
}

/** Whether every word stands somewhere in the text, in any order. */
export function hasWords(text: string, words: string): boolean {
  const low = text.toLowerCase()
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => low.includes(word))
}
