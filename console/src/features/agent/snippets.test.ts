import { describe, expect, it } from "vitest"

import { digestCommand, quoted, snippets } from "@/features/agent/snippets"

const use = {
  ...{
    gateway: "http://127.0.0.1:8080",
    workspaceId: "demo",
    agentId: "aop:a",
    version: "1.0.0",
    capability: "say",
  },
  ...{ input: { text: 'it\'s \\ "quoted"\n' }, streaming: false },
}

describe("what can be pasted", () => {
  it("holds no token but the variable's name", () => {
    for (const { code } of snippets({ ...use, streaming: true })) expect(code).not.toMatch(/aop_[0-9A-Za-z]/)
    expect(digestCommand(use.gateway, use.agentId, "1.0.0+b")).toBe(
      'curl -sS -H "Authorization: Bearer $AOP_TOKEN" http://127.0.0.1:8080/v1/agents/aop%3Aa/versions/1.0.0%2Bb | sha256sum',
    )
  })

  it("quotes for the shell what a shell would read differently", () => {
    expect([quoted("plain:1.0"), quoted("a b"), quoted("it's"), quoted("$(x)")]).toEqual([
      ...["plain:1.0", "'a b'", "'it'\\''s'", "'$(x)'"],
    ])
  })

  it("gives a text to the command as it is, or through stdin where the command would read something else", () => {
    const call = (input: string) => snippets({ ...use, input })[2]?.code.split("\n")[2]
    expect(call("Hello there")).toBe("aop invoke aop:a say 'Hello there' --workspace demo")
    for (const input of ["{a}", "@file", "-x", ""])
      expect(call(input)).toBe(`printf %s ${quoted(input)} | aop invoke aop:a say - --text --workspace demo`)
  })

  it("shows the stream only where the Agent streams", () => {
    const codes = (streaming: boolean) => snippets({ ...use, streaming }).map(({ code }) => code)
    expect(codes(false).join()).not.toContain("stream ")
    expect(codes(true)[0]).toContain('"stream":true')
    expect(codes(true)[1]).toContain("client.stream(")
    expect(codes(true)[2]).toContain("--stream")
  })
})
