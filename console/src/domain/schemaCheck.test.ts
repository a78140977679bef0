import { describe, expect, it } from "vitest"

import type { Json, JsonObject } from "@/api/contract.gen"
import { plainlyMatches } from "@/domain/plainPattern"
import { brokenRules } from "@/domain/schemaCheck"

const found = (schema: JsonObject, value: Json) =>
  brokenRules(schema, value).map(({ pointer, rule, says }) => `${pointer} ${rule}: ${says ?? ""}`)

const text: JsonObject = { type: "string", minLength: 1, maxLength: 3 }
const closed: JsonObject = {
  type: "object",
  required: ["text"],
  additionalProperties: false,
  properties: { text, tags: { type: "array", items: text, maxItems: 2, uniqueItems: true } },
}

describe("a value against the schema of a Skill", () => {
  it.each<[string, JsonObject, Json, string[]]>([
    ["fits", closed, { text: "abc", tags: ["a", "b"] }, []],
    ["misses a member", closed, {}, ["/text required: Is required."]],
    ["has an empty text", closed, { text: "" }, ["/text minLength: Must not be empty."]],
    [
      ...(["has a text that is too long", closed, { text: "abcd" }] as const),
      ["/text maxLength: Must have at most 3 characters; it has 4."],
    ],
    ["has a member too many", closed, { text: "a", x: 1 }, [" additional_member: Has no member “x”."]],
    [
      ...(["breaks several rules in a list", closed, { text: "a", tags: ["", "", ""] }] as const),
      [
        "/tags maxItems: Must have at most 2 items; it has 3.",
        "/tags/0 minLength: Must not be empty.",
        "/tags/1 minLength: Must not be empty.",
        "/tags/2 minLength: Must not be empty.",
        "/tags uniqueItems: Has the same item twice.",
      ],
    ],
    ["has the wrong type", { type: ["integer", "null"] }, 1.5, [" type: Must be a whole number or null."]],
    ["is none of the choices", { enum: ["a", 1] }, "b", [" enum: Must be one of a, 1."]],
    ["is too large", { maximum: 5 }, 6, [" maximum: Must be at most 5."]],
    ["is between the steps", { multipleOf: 5 }, 6, [" multipleOf: Must be a multiple of 5."]],
    ["has the wrong form", { pattern: "^[a-z]+$" }, "A", [" pattern: Does not have the required form."]],
    [
      ...(["breaks the one alternative of its type", { anyOf: [{ type: "null" }, text] }, "abcd"] as const),
      [" maxLength: Must have at most 3 characters; it has 4."],
    ],
    [
      "fits two of one",
      { oneOf: [{ minimum: 1 }, { maximum: 5 }] },
      3,
      [" oneOf: Fits more than one of the allowed forms."],
    ],
    [
      "follows a reference",
      { $defs: { t: text }, $ref: "#/$defs/t" },
      "",
      [" minLength: Must not be empty."],
    ],
    [
      ...([
        "is judged by its condition",
        { if: { required: ["a"] }, then: { required: ["b"] } },
        { a: 1 },
      ] as const),
      ["/b required: Is required."],
    ],
  ])("%s", (_, schema, value, expected) => {
    expect(found(schema, value)).toEqual(expected)
  })

  it("says nothing about what only the Gateway can tell", () => {
    expect(found({ not: { pattern: "(a+)+$" } }, "aaa")).toEqual([])
    expect(
      found({ patternProperties: { "^x": { type: "null" } }, additionalProperties: false }, { y: 1 }),
    ).toEqual([])
    expect(found({ $dynamicRef: "#x" }, 1)).toEqual([])
  })

  it("takes members for what they are called, whatever objects inherit", () => {
    const odd = JSON.parse(
      '{"properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}}}',
    ) as JsonObject
    expect(found(odd, {})).toEqual([])
    expect(found({ required: ["toString"] }, {})).toEqual(["/toString required: Is required."])
    expect(found(odd, JSON.parse('{"__proto__":1}') as Json)).toEqual(["/__proto__ type: Must be a text."])
  })

  it("ends soon on a hostile schema, with at most twenty findings", () => {
    const doubling = Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => {
        const next = { $ref: `#/$defs/d${at + 1}` }
        return [`d${at}`, { anyOf: [next, next], allOf: [next, next] }]
      }),
    )
    const began = performance.now()
    expect(found({ $defs: { ...doubling, d40: {} }, $ref: "#/$defs/d0" }, "a")).toEqual([])
    expect(
      found(
        { items: { type: "null" } },
        Array.from({ length: 9_000 }, () => 1),
      ),
    ).toHaveLength(20)
    expect(performance.now() - began).toBeLessThan(5_000)
  })
})

describe("a pattern of a stranger", () => {
  it("is tried when there are few ways through it", () => {
    expect(plainlyMatches("^\\d{4}-\\d{2}-\\d{2}$", "2026-03-02")).toBe(true)
    expect(plainlyMatches("^[a-z][a-z0-9-]{0,30}$", "No")).toBe(false)
    expect(plainlyMatches("cat", "a cat")).toBe(true)
  })

  it.each([
    "(a+)+$",
    "^(a|a)*$",
    "a*a*a*a*b",
    "^a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?b",
    "(?=a)",
    "\\1",
    "[",
  ])("is left to the Gateway: %s", (pattern) => {
    expect(plainlyMatches(pattern, "a".repeat(900))).toBeUndefined()
  })

  it("is not tried on texts that other engines may read differently", () => {
    expect(plainlyMatches("^\\w+$", "größe")).toBeUndefined()
    expect(plainlyMatches("^.*$", "two\nlines")).toBeUndefined()
  })
})
