/** Violations in words, each with its pointer and rule. */

import type { Violation } from "@/api/problem"
import { sentenceOf } from "@/features/playground/violations"

export function ViolationTexts({ violations }: { readonly violations: ReadonlyArray<Violation> }) {
  return violations.map(({ pointer, rule }) => (
    <span key={`${pointer} ${rule}`} className="block">
      {sentenceOf(rule)}{" "}
      <span className="id-text font-normal">{pointer === "" ? "(whole body)" : pointer}</span>
      {" breaks "}
      <span className="id-text font-normal">{rule}</span>
    </span>
  ))
}
