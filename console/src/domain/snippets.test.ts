import { describe, expect, it } from "vitest"

import { filled, missing, quoted, rendered, snippetNamed, TABLE, tokenText } from "@/domain/snippets"

const callee = {
  ...{ gateway: "http://127.0.0.1:8080", workspaceId: "demo", door: "http://127.0.0.1:8083" },
  call: {
    ...{ agentId: "aop:a", capability: "say", input: { text: 'it\'s \\ "quoted"\n' } },
    streaming: true,
  },
}
const code = (name: string, changes: object = {}) => {
  const snippet = snippetNamed(name)
  if (snippet === undefined) throw new Error(name)
  return rendered(snippet, { ...callee, call: { ...callee.call, ...changes } })
}

describe("what can be pasted", () => {
  it.each(TABLE.snippets.map((snippet) => [snippet.name, snippet] as const))(
    "for %s has every value filled in and no token but the variable's name",
    (_, snippet) => {
      for (const text of [rendered(snippet, callee), tokenText(snippet, callee)]) {
        expect(text).not.toMatch(/\{\{\W?\w|undefined/)
        expect(text).not.toMatch(/aop_[0-9A-Za-z]{20}|[?&](token|key)=/)
      }
    },
  )

  it("says what a snippet needs that nobody knows", () => {
    const snippet = snippetNamed("a2a-python")
    expect(snippet && missing(snippet, { gateway: "http://a", workspaceId: "w" })).toEqual(["agent", "door"])
    expect(snippet && missing(snippet, callee)).toEqual([])
  })

  it("quotes for the shell what a shell would read differently", () => {
    expect([quoted("plain:1.0"), quoted("a b"), quoted("it's"), quoted("$(x)")]).toEqual([
      ...["plain:1.0", "'a b'", `'it'"'"'s'`, "'$(x)'"],
    ])
  })

  it("shows the stream only where the Agent streams", () => {
    expect(code("curl", { streaming: false })).not.toContain('"stream":true')
    expect(code("curl")).toContain('"stream":true')
    expect(code("cli", { streaming: false })).not.toContain("--stream")
    expect(code("cli")).toContain("--stream")
    expect(code("python", { streaming: false })).not.toContain("client.stream(")
    expect(code("python")).toContain("client.stream(")
  })

  it("sends a text as text and an object as data", () => {
    expect(code("cli", { input: "Hello" })).toContain("printf %s Hello | aop invoke aop:a say - --text")
    expect(code("a2a-python", { input: "Hello" })).toContain("new_text_message(given")
    expect(code("a2a-python")).toContain("new_data_message(given")
  })

  it("refuses a value that is not there", () => {
    expect(() => filled("{{nothing}}", {})).toThrow("nothing")
  })
})
