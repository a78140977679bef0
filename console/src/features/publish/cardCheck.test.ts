import { readdirSync, readFileSync } from "node:fs"

import { describe, expect, it } from "vitest"

import type { JsonObject } from "@/api/contract.gen"
import { cardViolations } from "@/features/publish/cardCheck"
import { newCard, withValueAt } from "@/features/publish/cardDraft"

const examples = new URL("../../../../contracts/agent-card/0.2/examples/", import.meta.url)

function example(kind: "valid" | "invalid", name: string): JsonObject {
  return JSON.parse(readFileSync(new URL(`${kind}/${name}`, examples), "utf8")) as JsonObject
}

describe("a Card before it is sent", () => {
  it.each(readdirSync(new URL("valid/", examples)).filter((name) => name.endsWith(".json")))(
    "is not refused here when the Gateway takes it: %s",
    (name) => {
      expect(cardViolations(example("valid", name))).toEqual([])
    },
  )

  it("that is empty says once for each field what is missing", () => {
    const found = cardViolations(newCard("alice"))
    expect(new Set(found.map(({ pointer }) => pointer)).size).toBe(found.length)
    expect(found.map(({ pointer, says }) => `${pointer}: ${says ?? ""}`)).toContain(
      "/name: Must not be empty.",
    )
    expect(found.every(({ says }) => says !== undefined)).toBe(true)
  })

  it("says what a form must look like, and which ids do not fit together", () => {
    const card = withValueAt(newCard("alice"), "/version", "1.0")
    const skill = { ...newSkillNamed("a"), requiredPermissions: ["mail.send"] }
    const found = cardViolations(withValueAt(card, "/skills", [skill, newSkillNamed("a")]))
    const said = Object.fromEntries(found.map(({ pointer, says }) => [pointer, says]))
    expect(said["/version"]).toBe("Use three numbers, like 1.0.0.")
    expect(said["/skills/1/id"]).toBe("Another Skill has the same id.")
    expect(said["/skills/0/requiredPermissions/0"]).toContain("mail.send")
  })
})

function newSkillNamed(id: string): JsonObject {
  const schema = { type: "object" }
  return { id, name: id, description: id, inputSchema: schema, outputSchema: schema, requiredPermissions: [] }
}
