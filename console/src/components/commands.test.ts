import { describe, expect, it } from "vitest"

import { REASONS, RECOVERY } from "@/api/contract.gen"
import { partsOf } from "@/components/commands"

const commands = (sentence: string) =>
  partsOf(sentence).flatMap(({ text, isCommand }) => (isCommand ? [text] : []))
const written = (sentence: string) =>
  partsOf(sentence)
    .map(({ text }) => text)
    .join("")

describe("a sentence with commands", () => {
  it("is told from them", () => {
    expect(partsOf("Put `aop front` before it.")).toEqual([
      { text: "Put ", isCommand: false },
      { text: "aop front", isCommand: true },
      { text: " before it.", isCommand: false },
    ])
    expect(commands("`a` or `b`")).toEqual(["a", "b"])
    expect(partsOf("Nothing to type.")).toEqual([{ text: "Nothing to type.", isCommand: false }])
    expect(partsOf("")).toEqual([])
  })

  it("keeps a backtick without a partner", () => {
    expect(written("5` and `aop open")).toBe("5 and aop open")
    expect(written("one ` alone")).toBe("one ` alone")
    expect(written("`a` and `b")).toBe("a and `b")
  })

  it("has no backtick left in any next step of the contract", () => {
    const steps = [
      ...Object.values(RECOVERY),
      ...Object.values(REASONS).flatMap((reasons) => Object.values(reasons)),
    ]
    const texts = steps.flatMap((step) => [step.action, "sentence" in step ? step.sentence : ""])
    expect(texts.filter((text) => text.includes("`")).length).toBeGreaterThan(10)
    expect(texts.filter((text) => written(text).includes("`"))).toEqual([])
  })
})
