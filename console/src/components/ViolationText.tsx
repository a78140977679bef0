/** One violation in words: its place, what is wrong there, and the rule. */

import type { Violation } from "@/api/problem"
import { phraseOf } from "@/api/violations"

export function ViolationText({ violation: { pointer, rule } }: { readonly violation: Violation }) {
  return (
    <>
      <code className="id-text font-normal">{pointer === "" ? "The body" : pointer}</code> {phraseOf(rule)} (
      <code className="id-text font-normal">{rule}</code>)
    </>
  )
}
