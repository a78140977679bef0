/** What is wrong with a Card before it is sent: its schema, and the rules that compare its members with one another. */

import type { Json, JsonObject } from "@/api/contract.gen"
import { asList, isObject } from "@/api/json"
import type { FoundViolation } from "@/components/ViolationText"
import { brokenRules } from "@/domain/schemaCheck"
// oxlint-disable-next-line no-restricted-imports -- the contract is outside of this folder
import cardSchema from "../../../../contracts/agent-card/0.2/schema.json?raw"
// oxlint-disable-next-line no-restricted-imports -- the contract is outside of this folder
import definitions from "../../../../contracts/definitions/1/schema.json?raw"

const SHARED = "urn:aop:contract:definitions:1#/$defs/"

/** The Card's schema with all it refers to. */
const SCHEMA = withDefinitions(cardSchema, definitions)

/** What people see where the form of a text is all that the schema says. */
const FORMS: Readonly<Record<string, string>> = {
  "/agentId": "Use letters, digits and . _ : - only, 128 at most; begin with a letter or digit.",
  "/version": "Use three numbers, like 1.0.0.",
  "/owner/id": "This is not an account id.",
  "/protocol/endpoint": "Use a complete http or https address, without a user name.",
}

export function cardViolations(card: JsonObject): ReadonlyArray<FoundViolation> {
  const found = brokenRules(SCHEMA, card, (pattern, text) => new RegExp(pattern, "u").test(text))
  const plain = found.map((violation) =>
    violation.rule === "pattern" && violation.pointer in FORMS && violation.says !== EMPTY
      ? { ...violation, says: FORMS[violation.pointer] }
      : violation,
  )
  return onePerPlace([
    ...plain,
    ...repeated(card, "skills", "CARD-1"),
    ...repeated(card, "permissions", "CARD-2"),
    ...undeclared(card),
  ])
}

const EMPTY = "Must not be empty."

/** A text that is empty breaks its length and its form; one sentence says both. */
function onePerPlace(found: ReadonlyArray<FoundViolation>): ReadonlyArray<FoundViolation> {
  return [...new Map(found.toReversed().map((each) => [each.pointer, each])).values()].reverse()
}

function repeated(card: JsonObject, list: string, rule: string): ReadonlyArray<FoundViolation> {
  const ids = idsOf(card, list)
  const says = `Another ${list === "skills" ? "Skill" : "permission"} has the same id.`
  return ids.flatMap((id, at) =>
    id !== "" && ids.indexOf(id) < at ? [{ pointer: `/${list}/${at}/id`, rule, says }] : [],
  )
}

function undeclared(card: JsonObject): ReadonlyArray<FoundViolation> {
  const declared = idsOf(card, "permissions")
  return asList(card["skills"]).flatMap((skill, at) =>
    asList(isObject(skill) ? skill["requiredPermissions"] : undefined).flatMap((id, place) =>
      typeof id === "string" && !declared.includes(id)
        ? [
            {
              pointer: `/skills/${at}/requiredPermissions/${place}`,
              rule: "CARD-3",
              says: `The permission “${id}” is not declared in this Card.`,
            },
          ]
        : [],
    ),
  )
}

function idsOf(card: JsonObject, list: string): ReadonlyArray<Json> {
  return asList(card[list]).map((item) => (isObject(item) ? (item["id"] ?? "") : ""))
}

function withDefinitions(card: string, shared: string): JsonObject {
  const own = JSON.parse(card.replaceAll(SHARED, "#/$defs/")) as { readonly $defs: JsonObject }
  const others = JSON.parse(shared) as { readonly $defs: JsonObject }
  return { ...own, $defs: { ...others.$defs, ...own.$defs } }
}
