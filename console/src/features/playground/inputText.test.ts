import { describe, expect, it } from "vitest"

import { numberProblem, readInput, readNumber, readValue, writeInput } from "@/features/playground/inputText"

describe("the JSON view", () => {
  it("reads an object, and writes it so that it reads the same", () => {
    const value = { text: 'He said "12345678901234567890"', list: [1, 2.5, -3e4, true, null] }
    expect(readInput(writeInput(value))).toEqual({ value })
    expect(readInput(writeInput("a text"))).toEqual({ value: "a text" })
  })

  it("refuses what is no JSON and what is neither object nor text", () => {
    expect(readInput('{"a": }').error).toMatch(/^Not JSON/)
    for (const text of ["[]", "null", "12", ""]) {
      expect(readInput(text).error).toBe("The input must be a JSON object or a JSON string.")
    }
  })

  it("refuses a number a browser would change on its way", () => {
    expect(readInput('{"a": 9007199254740991}').error).toBeUndefined()
    expect(readInput('{"a": 9007199254740993}').error).toContain("9007199254740993")
    expect(readInput('{"a": -12345678901234567890}').error).toContain("cannot keep")
    expect(readInput('{"a": 1e999}').error).toContain("cannot keep")
  })
})

describe("a single value as JSON", () => {
  it("is any value, and blank text is none", () => {
    expect(readValue(' "x" ')).toEqual({ value: "x" })
    expect(readValue("  ")).toEqual({ value: undefined })
    expect(readValue("x").error).toMatch(/^Not JSON/)
  })
})

describe("a number field", () => {
  it("gives a number for JSON's way of writing one", () => {
    expect(readNumber("1.0")).toBe(1)
    expect(readNumber(" -2.5e3 ")).toBe(-2500)
    expect(readNumber("")).toBeUndefined()
  })

  it("gives the text back when it is no number, and says so", () => {
    for (const text of ["1.", "-", "0x10", "01", "ten", "Infinity", "9007199254740993"]) {
      expect(readNumber(text)).toBe(text)
      expect(numberProblem(text)).toBeDefined()
    }
    expect(numberProblem(3)).toBeUndefined()
    expect(numberProblem(undefined)).toBeUndefined()
    expect(numberProblem("9007199254740993")).toContain("cannot keep")
  })
})
