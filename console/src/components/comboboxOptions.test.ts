import { expect, it } from "vitest"

import { moved, suggested } from "@/components/comboboxOptions"

const options = [
  { value: "acme:agent-1", label: "Translator" },
  { value: "acme:agent-2", label: "Meeting brief" },
]

it("finds a name or an id by words in any order", () => {
  expect(suggested(options, "").length).toBe(2)
  expect(suggested(options, "BRIEF meet").map(({ value }) => value)).toEqual(["acme:agent-2"])
  expect(suggested(options, "agent-1 trans").map(({ value }) => value)).toEqual(["acme:agent-1"])
  expect(suggested(options, "other")).toEqual([])
})

it("moves on from the last to the first and back", () => {
  expect(moved(options, "acme:agent-2", 1)).toBe("acme:agent-1")
  expect(moved(options, "acme:agent-1", -1)).toBe("acme:agent-2")
  expect(moved(options, undefined, 1)).toBe("acme:agent-1")
  expect(moved([], "x", 1)).toBeUndefined()
})
