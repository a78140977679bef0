import { describe, expect, it } from "vitest"

import { publicAgentIdOf } from "@/config/shareLink"

const origin = "https://agents.example"
const id = `agt_${"0123456789abcdef".repeat(2)}`

describe("a share link", () => {
  it("is origin, /a/ and id, byte for byte", () => {
    expect(publicAgentIdOf(`${origin}/a/${id}`, origin)).toBe(id)
  })

  it.each([
    `http://agents.example/a/${id}`,
    `https://AGENTS.example/a/${id}`,
    `https://agents.example:443/a/${id}`,
    `https://agents.example./a/${id}`,
    `https://user@agents.example/a/${id}`,
    `https://other.example/a/${id}`,
    `${origin}/a/${id}/`,
    `${origin}/a/${id}?x=1`,
    `${origin}/a/${id}#x`,
    `${origin}/a/${id}#`,
    `${origin}/a//${id}`,
    `${origin}/A/${id}`,
    `${origin}/a/${id.toUpperCase()}`,
    `${origin}/a/agt%5F${id.slice(4)}`,
    `${origin}/a/${id}%20`,
    ` ${origin}/a/${id}`,
    `${origin}/a/${id}\n`,
    `/a/${id}`,
    id,
    "",
  ])("is not %j", (text) => {
    expect(publicAgentIdOf(text, origin)).toBeUndefined()
  })
})
