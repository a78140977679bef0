import { describe, expect, it } from "vitest"

import { hasWords, meaningOf } from "@/features/find/meaning"

const ORIGIN = "https://console.example"
const HEX = "0190f5c2a7df7d2c8e1f2a3b4c5d6e7f"
const of = (text: string) => meaningOf(text, ORIGIN)

describe("what is typed into the box", () => {
  it.each([
    ["invocation", `inv_${HEX}`],
    ["trace", HEX],
    ["release", `rel_${HEX}`],
    ["binding", `bind_${HEX}`],
    ["installation", `inst_${HEX}`],
    ["publicAgent", `agt_${HEX}`],
  ])("is the id of one %s by its form, also with blanks around it", (kind, id) => {
    expect(of(` ${id}\n`)).toEqual({ kind: "id", of: kind, id })
  })

  it("is a share link only when it is exactly one of this platform", () => {
    expect(of(`${ORIGIN}/a/agt_${HEX}`)).toEqual({ kind: "id", of: "publicAgent", id: `agt_${HEX}` })
    expect(of(`https://other.example/a/agt_${HEX}`)).toMatchObject({ kind: "words", identifier: undefined })
  })

  it("is words, and perhaps the id of an Agent or a Workspace", () => {
    expect(of("acme:summarizer")).toMatchObject({ kind: "words", identifier: "acme:summarizer" })
    expect(of("two words")).toMatchObject({ words: "two words", identifier: undefined })
    expect(of("   ")).toEqual({ kind: "nothing" })
  })

  it("may begin with what is to be done", () => {
    expect(of("Install acme:mailer")).toMatchObject({ verb: "install", words: "acme:mailer" })
    expect(of("try meeting brief")).toMatchObject({ verb: "try", words: "meeting brief" })
    expect(of("install")).toMatchObject({ verb: undefined, words: "install" })
    expect(of("installer")).toMatchObject({ verb: undefined, words: "installer" })
  })
})

describe("words", () => {
  it("match in any order and case, each of them", () => {
    expect(hasWords("Publish an Agent", "agent PUB")).toBe(true)
    expect(hasWords("Publish an Agent", "agent card")).toBe(false)
  })
})
