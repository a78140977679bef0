import { describe, expect, it } from "vitest"

import { valueAt } from "@/api/json"
import { brokenAt, newCard, parsedCard, raised, withoutItem, withValueAt } from "@/features/publish/cardDraft"

describe("a Card while it is written", () => {
  it("changes at one place and nowhere else", () => {
    const card = newCard("alice")
    const changed = withValueAt(card, "/skills/0/name", "Summarize")
    expect(valueAt(changed, "/skills/0/name")).toBe("Summarize")
    expect(valueAt(card, "/skills/0/name")).toBe("")
    expect(valueAt(changed, "/owner/id")).toBe("alice")
    expect(changed["limits"]).toBe(card["limits"])
  })

  it("gets the objects that are missing on the way, and loses an item of a list", () => {
    expect(withValueAt({}, "/owner/id", "a")).toEqual({ owner: { id: "a" } })
    expect(withoutItem({ permissions: ["a", "b"] }, "/permissions", 0)).toEqual({ permissions: ["b"] })
    expect(valueAt({ "a/b": 1 }, "/a~1b")).toBe(1)
  })

  it("is raised to the next version", () => {
    expect([raised("1.2.3"), raised("2.0.0-rc.1"), raised("1.0.9+build")]).toEqual([
      "1.2.4",
      "2.0.0",
      "1.0.10",
    ])
  })

  it("shows a violation next to its field, and inside it where one field shows it all", () => {
    const violations = [
      { pointer: "/name", rule: "minLength" },
      { pointer: "/skills/0/inputSchema/properties", rule: "type" },
    ]
    expect(brokenAt(violations, "/name")).toEqual([violations[0]])
    expect(brokenAt(violations, "/skills/0/inputSchema")).toEqual([])
    expect(brokenAt(violations, "/skills/0/inputSchema", true)).toEqual([violations[1]])
  })

  it("is read from text, or says why not", () => {
    expect(parsedCard('{"a":1}')).toEqual({ a: 1 })
    expect(typeof parsedCard("[1]")).toBe("string")
    expect(typeof parsedCard("{")).toBe("string")
  })
})
