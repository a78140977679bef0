import { expect, it } from "vitest"

import { phraseOf } from "@/api/violations"

it("says in words what is wrong, whatever the rule", () => {
  expect(phraseOf("minLength")).toBe("is too short")
  expect(phraseOf("unevaluatedProperties")).toBe("breaks a rule")
})
