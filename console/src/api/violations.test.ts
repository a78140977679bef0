import { expect, it } from "vitest"

import { phraseOf, placeOf, sentenceOf } from "@/api/violations"

it("says in words what is wrong, whatever the rule", () => {
  expect(phraseOf("minLength")).toBe("is too short")
  expect(sentenceOf("required")).toBe("Is required.")
  expect(sentenceOf("unevaluatedProperties")).toBe("Is not accepted.")
})

it("names the place in words", () => {
  expect(placeOf("/skills/0/id")).toBe("skills 1, id")
  expect(placeOf("/input/a~1b/2/3")).toBe("input, a/b 3 4")
  expect(placeOf("")).toBe("")
})
