import { describe, expect, it } from "vitest"

import { Problem } from "@/api/problem"
import { lookUp, MAX_WORKSPACES } from "@/features/find/lookup"

const quiet = new AbortController().signal
const names = (count: number) => Array.from({ length: count }, (_, index) => `w${index}`)

/** Answers for the Workspaces named, notes who was asked. */
function asked(found: ReadonlyArray<string>, failing: ReadonlyArray<string> = []) {
  const places: string[] = []
  const ask = (workspaceId: string) => {
    places.push(workspaceId)
    if (failing.includes(workspaceId)) return Promise.reject(new Problem({ message: "down" }))
    return Promise.resolve(found.includes(workspaceId) ? {} : undefined)
  }
  return { places, ask }
}

describe("looking for an id in Workspaces", () => {
  it("asks the open one alone first", async () => {
    const { places, ask } = asked(["w0", "w1"])
    expect(await lookUp("trace", "id", names(3), quiet, ask)).toMatchObject({ workspaceId: "w0" })
    expect(places).toEqual(["w0"])
  })

  it("asks at most twenty, each once", async () => {
    const { places, ask } = asked([])
    const sighting = await lookUp("invocation", "id", ["w3", ...names(200)], quiet, ask)
    expect(sighting).toEqual({ asked: MAX_WORKSPACES, problem: undefined })
    expect(new Set(places).size).toBe(MAX_WORKSPACES)
    expect(places).toHaveLength(MAX_WORKSPACES)
    expect(places[0]).toBe("w3")
  })

  it("never takes a failure for an absence", async () => {
    const down = asked([], ["w1"])
    expect(await lookUp("trace", "id", names(3), quiet, down.ask)).toMatchObject({
      asked: 2,
      problem: expect.any(Problem) as unknown,
    })
    const elsewhere = asked(["w2"], ["w1"])
    expect(await lookUp("trace", "id", names(3), quiet, elsewhere.ask)).toMatchObject({ workspaceId: "w2" })
  })
})
