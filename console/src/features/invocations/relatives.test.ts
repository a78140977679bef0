import { describe, expect, it } from "vitest"

import { relativesOf } from "@/features/invocations/relatives"

const record = (invocationId: string, createdAt: string, parentInvocationId?: string) => ({
  invocationId,
  createdAt,
  parentInvocationId,
})

describe("the relatives of an Invocation", () => {
  const trace = [record("a", "1"), record("b", "4", "a"), record("c", "3", "a"), record("d", "5", "b")]

  it("are those it called, in their order", () => {
    const { parent, children } = relativesOf(record("a", "1"), trace)
    expect(parent).toBeUndefined()
    expect(children.map((child) => child.invocationId)).toEqual(["c", "b"])
  })

  it("are the one it was called from, and no brothers", () => {
    const { parent, children } = relativesOf(record("d", "5", "b"), trace)
    expect(parent?.invocationId).toBe("b")
    expect(children).toEqual([])
  })
})
