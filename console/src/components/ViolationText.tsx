/** What is wrong with the value of a field, one sentence for each broken rule. */

import type { Violation } from "@/api/problem"
import { sentenceOf } from "@/api/violations"

/** A violation that was found here says more than its rule; one of the Gateway is named with its place as well. */
export interface FoundViolation extends Violation {
  readonly says?: string
}

export function ViolationTexts({ violations }: { readonly violations: ReadonlyArray<FoundViolation> }) {
  return violations.map(({ pointer, rule, says }) => (
    <span key={`${pointer} ${rule}`} className="block" title={`${pointer} ${rule}`}>
      {says ?? sentenceOf({ pointer, rule })}
      {says === undefined ? (
        <span className="font-normal text-muted">
          {" "}
          (<code className="id-text">{pointer}</code> <code className="id-text">{rule}</code>)
        </span>
      ) : null}
    </span>
  ))
}
