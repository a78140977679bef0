import { readFileSync } from "node:fs"

import { expect, test } from "vitest"

import { cleaned, escaped, MARK, mixesScripts, pieces } from "@/components/text/hidden"

interface Case {
  readonly name: string
  readonly text: string
  readonly shown: string
  readonly mixesScripts: boolean
}

const file = new URL("../../../../contracts/vectors/text.json", import.meta.url)
const vectors = JSON.parse(readFileSync(file, "utf8")) as { readonly cases: ReadonlyArray<Case> }

test.each(vectors.cases)("$name is shown and judged as the contract says", ({ text, shown, ...rest }) => {
  expect(cleaned(text)).toBe(shown)
  expect(mixesScripts(text)).toBe(rest.mixesScripts)
  expect(
    pieces(text)
      .map((piece) => (typeof piece === "string" ? piece : MARK))
      .join(""),
  ).toBe(shown)
})

test("a mark names its code point", () => {
  expect(pieces("a\u202eb")).toEqual(["a", { hidden: "\u202e", name: "U+202E right-to-left override" }, "b"])
  expect(pieces("\ud800")).toEqual([{ hidden: "\ud800", name: "U+D800 lone surrogate" }])
})

test("JSON keeps its value and holds no such character", () => {
  const value = { "a\u202e": "\u007f\u009b\u{e0041}\n" }
  const safe = escaped(JSON.stringify(value, null, 2))
  expect(JSON.parse(safe)).toEqual(value)
  expect(cleaned(safe)).toBe(safe)
})
