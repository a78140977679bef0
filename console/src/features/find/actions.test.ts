import { describe, expect, it } from "vitest"

import { actionsFor } from "@/features/find/actions"

const titles = (words: string, workspaceId?: string) =>
  actionsFor(words, workspaceId).map(({ title }) => title)

describe("actions", () => {
  it("are found by their words and by other words for the same", () => {
    expect(titles("publish")).toContain("Publish an Agent")
    expect(titles("api key")).toEqual(["Tokens and sessions"])
    expect(titles("mcp", "demo")).toEqual(["Use it from… (demo)"])
  })

  it("about a Workspace are offered when one is open", () => {
    expect(titles("playground")).toEqual([])
    expect(titles("", "demo")).toContain("Playground of demo")
  })
})
