import { describe, expect, it } from "vitest"

import type { AgentCard, AgentCardSkill, Installation } from "@/api/contract.gen"
import { agentChoice, offered, skillChoice } from "@/domain/choice"

function installed(agentId: string, status: Installation["status"] = "enabled"): Installation {
  return { agentId, status, acceptedPermissions: ["read"] } as unknown as Installation
}

function skill(id: string, ...requiredPermissions: string[]): AgentCardSkill {
  return { id, requiredPermissions } as unknown as AgentCardSkill
}

describe("the Agent that is tried", () => {
  const all = [installed("b"), installed("c", "disabled"), installed("a"), installed("d", "uninstalled")]

  it("is the one asked for, else the first that is enabled", () => {
    expect(agentChoice(all, "b")).toMatchObject({ kind: "chosen", installation: { agentId: "b" } })
    expect(agentChoice(all, undefined)).toMatchObject({ kind: "chosen", installation: { agentId: "a" } })
    expect(offered(all).map(({ agentId }) => agentId)).toEqual(["a", "b"])
  })

  it("is never another than the one asked for", () => {
    expect(agentChoice(all, "c")).toEqual({ kind: "unavailable", agentId: "c", disabled: true })
    expect(agentChoice(all, "d")).toEqual({ kind: "unavailable", agentId: "d", disabled: false })
    expect(agentChoice([], undefined)).toEqual({ kind: "nothing" })
  })
})

describe("the Skill that is tried", () => {
  const card = { skills: [skill("write", "write"), skill("read", "read")] } as unknown as AgentCard

  it("is the one asked for, else the first that may be used", () => {
    expect(skillChoice(card, installed("a"), undefined)).toMatchObject({
      kind: "chosen",
      skill: { id: "read" },
    })
    expect(skillChoice(card, installed("a"), "read")).toMatchObject({ kind: "chosen" })
  })

  it("is refused when its permissions were not accepted, or the version does not have it", () => {
    expect(skillChoice(card, installed("a"), "write")).toMatchObject({
      kind: "forbidden",
      missing: ["write"],
    })
    expect(skillChoice(card, installed("a"), "sing")).toEqual({ kind: "unknown", capability: "sing" })
  })
})
