import { describe, expect, it } from "vitest"

import { isUsable, needing, outlook, withPermission, withSkill, type Permitted } from "@/domain/consent"

const skill = (id: string, ...requiredPermissions: string[]) => ({ id, name: id, requiredPermissions })
const [READ, SEND, RANK, FREE] = [
  skill("read", "text"),
  skill("send", "text", "mail"),
  skill("rank", "text"),
  skill("free"),
]
const AGENT: Permitted = {
  permissions: ["text", "mail", "extra"].map((id) => ({ id, description: id })),
  skills: [READ, SEND, RANK],
}
const ids = (accepted: ReadonlySet<string>) => [...accepted].sort()

describe("a choice of permissions", () => {
  it("tells which Skills need a permission, and that none does", () => {
    expect(needing(AGENT, "text").map(({ id }) => id)).toEqual(["read", "send", "rank"])
    expect(needing(AGENT, "extra")).toEqual([])
  })

  it("makes a Skill usable with all that it needs", () => {
    expect(isUsable(SEND, new Set(["text"]))).toBe(false)
    expect(isUsable(SEND, new Set(["text", "mail"]))).toBe(true)
    expect(isUsable(FREE, new Set())).toBe(true)
  })

  it("is judged before the Installation", () => {
    expect(outlook(AGENT, new Set())).toBe("none")
    expect(outlook(AGENT, new Set(["text"]))).toBe("some")
    expect(outlook(AGENT, new Set(["text", "mail"]))).toBe("all")
  })

  it("changes one permission at a time", () => {
    expect(ids(withPermission(new Set(["text"]), "mail", true))).toEqual(["mail", "text"])
    expect(ids(withPermission(new Set(["text", "mail"]), "mail", false))).toEqual(["text"])
  })
})

describe("choosing by Skill", () => {
  it("accepts what the Skill needs and nothing else", () => {
    expect(ids(withSkill(AGENT, new Set(), SEND, true))).toEqual(["mail", "text"])
  })

  it("takes back only what no other usable Skill needs", () => {
    expect(ids(withSkill(AGENT, new Set(["text", "mail"]), SEND, false))).toEqual(["text"])
    expect(ids(withSkill(AGENT, new Set(["text", "mail", "extra"]), SEND, false))).toEqual(["extra", "text"])
  })

  it("takes back all of it when others need the same", () => {
    expect(ids(withSkill(AGENT, new Set(["text"]), READ, false))).toEqual([])
  })
})
