/** The violations of one field, one line each. */

import type { Violation } from "@/api/problem"
import { ViolationText } from "@/components/ViolationText"

export function ViolationTexts({ violations }: { readonly violations: ReadonlyArray<Violation> }) {
  return violations.map((violation) => (
    <span key={`${violation.pointer} ${violation.rule}`} className="block">
      <ViolationText violation={violation} />
    </span>
  ))
}
