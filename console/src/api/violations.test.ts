import { expect, it } from "vitest"

import { RULES } from "@/api/contract.gen"
import { expectedOf, placeOf, sentenceOf } from "@/api/violations"

it("says what was expected, with the form of the place", () => {
  expect(expectedOf({ pointer: "/limits/timeoutMs", rule: "minimum" })).toBe(
    "the number is too small: a whole number from 1 to 600000",
  )
  expect(expectedOf({ pointer: "/workspaceId", rule: "path_value" })).toMatch(
    /: a Workspace id: 1 to 128 letters/,
  )
  expect(expectedOf({ pointer: "/skills/3/id", rule: "required" })).toMatch(/^add this member: \S/)
  expect(expectedOf({ pointer: "/nobody/knows", rule: "type" })).toBe("another JSON type is needed here")
  expect(sentenceOf({ pointer: "/skills/0/id", rule: "CARD-1" })).toBe(
    "Another Skill has this id; Skill ids are unique in a Card.",
  )
})

it("knows every rule of the contract, and has words for one that it does not know", () => {
  for (const rule of Object.keys(RULES)) {
    expect(expectedOf({ pointer: "", rule }), rule).not.toBe("this value is not accepted")
  }
  expect(sentenceOf({ pointer: "", rule: "of a newer version" })).toBe("This value is not accepted.")
})

it("names the place in words", () => {
  expect(placeOf("/skills/0/id")).toBe("skills 1, id")
  expect(placeOf("/input/a~1b/2/3")).toBe("input, a/b 3 4")
  expect(placeOf("")).toBe("")
})
