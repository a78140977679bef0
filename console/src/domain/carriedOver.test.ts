import { describe, expect, it } from "vitest"

import type { AgentCard, Installation } from "@/api/contract.gen"
import { carriedOver } from "@/domain/carriedOver"

const INSTALLATION = { acceptedPermissions: ["read", "list"] } as unknown as Installation

describe("permissions of another version", () => {
  const card = (...permissions: Array<[string, string]>) =>
    ({ permissions: permissions.map(([id, description]) => ({ id, description })) }) as unknown as AgentCard
  const installed = card(["read", "Reads."], ["list", "Lists."], ["mail", "Mails."])

  it("are carried over when they were accepted and mean the same", () => {
    const { accepted, marks } = carriedOver(
      INSTALLATION,
      installed,
      card(["read", "Reads."], ["mail", "Mails."]),
    )
    expect([...accepted]).toEqual(["read"])
    expect(marks.size).toBe(0)
  })

  it("are left to the owner when they are new or read differently", () => {
    const target = card(["read", "Reads and keeps."], ["pay", "Pays."])
    const { accepted, marks } = carriedOver(INSTALLATION, installed, target)
    expect(accepted.size).toBe(0)
    expect([...marks]).toEqual([
      ["read", "changed"],
      ["pay", "new"],
    ])
  })

  it("are all left to the owner when the installed version cannot be read", () => {
    expect(carriedOver(INSTALLATION, undefined, card(["read", "Reads."])).accepted.size).toBe(0)
  })
})
