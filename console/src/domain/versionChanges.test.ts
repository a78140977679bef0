import { describe, expect, it } from "vitest"

import type { AgentCard } from "@/api/contract.gen"
import { versionDifference } from "@/domain/versionChanges"

const skill = {
  ...{ id: "summarize", name: "Summarize", description: "Shortens.", requiredPermissions: ["text.read"] },
  inputSchema: {
    type: "object",
    required: ["text"],
    properties: { text: { type: "string", maxLength: 100 } },
  },
  outputSchema: { type: "object", required: ["summary"], properties: { summary: { type: "string" } } },
}
const card: AgentCard = {
  ...{ schemaVersion: "0.2", agentId: "a", name: "A", description: "Does.", version: "1.0.0" },
  owner: { id: "o", displayName: "O" },
  protocol: { type: "a2a", version: "0.3.0", transport: "JSONRPC", endpoint: "http://h/" },
  skills: [skill],
  authentication: { type: "http_bearer" },
  permissions: [{ id: "text.read", description: "Reads." }],
  limits: { timeoutMs: 30_000, maxInputBytes: 1024, maxOutputBytes: 1024, streaming: true },
}
const found = (newer: Partial<AgentCard>) =>
  versionDifference(card, { ...card, ...newer }).flatMap(({ title, changes }) =>
    changes.map((change) => ({ title, ...change })),
  )

describe("the difference between two versions", () => {
  it("of the same Card is nothing", () => {
    expect(versionDifference(card, { ...card, name: "A" })).toEqual([])
  })

  it("shows a new permission as something the owner has to agree to", () => {
    const permissions = [...card.permissions, { id: "mail.send", description: "Sends mail." }]
    expect(found({ permissions })).toEqual([
      { title: "Permissions", kind: "added", what: "mail.send", to: "Sends mail.", notable: true },
    ])
  })

  it("shows what callers may rely on: a Skill gone, an input newly required, an output gone", () => {
    expect(found({ skills: [{ ...skill, id: "other" }] }).filter((change) => change.notable)).toMatchObject([
      { title: "Skills", kind: "removed", what: "summarize" },
    ])
    const inputSchema = {
      ...skill.inputSchema,
      required: ["text", "language"],
      properties: { ...skill.inputSchema.properties, language: { type: "string" } },
    }
    expect(found({ skills: [{ ...skill, inputSchema }] })).toMatchObject([
      { title: "Skill summarize: input", kind: "added", what: "language", notable: true },
    ])
    const outputSchema = { type: "object", properties: { text: { type: "string" } } }
    expect(found({ skills: [{ ...skill, outputSchema }] })).toMatchObject([
      { title: "Skill summarize: output", kind: "added", what: "text", notable: false },
      { title: "Skill summarize: output", kind: "removed", what: "summary", notable: true },
    ])
  })

  it("shows limits in units, a lower one as notable", () => {
    expect(
      found({ limits: { ...card.limits, timeoutMs: 10_000, maxInputBytes: 2048, streaming: false } }),
    ).toEqual([
      { title: "Limits", kind: "changed", what: "time limit", from: "30 s", to: "10 s", notable: true },
      { title: "Limits", kind: "changed", what: "largest input", from: "1 KiB", to: "2 KiB", notable: false },
      { title: "Limits", kind: "changed", what: "streaming", from: "yes", to: "no", notable: true },
    ])
  })

  it("never hides a change that the outline cannot show", () => {
    const inputSchema = { ...skill.inputSchema, additionalProperties: false }
    expect(found({ skills: [{ ...skill, inputSchema }] })).toHaveLength(1)
    const reordered = { properties: skill.inputSchema.properties, required: ["text"], type: "object" }
    expect(found({ skills: [{ ...skill, inputSchema: reordered }] })).toEqual([])
  })
})
