/** What two versions of an Agent mean for those who use its Skills: inputs of callers, and outputs for readers. */

import type { AgentCardSkill, Json, JsonObject } from "@/api/contract.gen"
import { Choices } from "@/domain/compatibility/choices"
import { Containment } from "@/domain/compatibility/containment"
import { Evaluation } from "@/domain/compatibility/evaluation"
import { Examples } from "@/domain/compatibility/examples"
import {
  canonical,
  SchemaDocument,
  Steps,
  together,
  Undecided,
  type Together,
} from "@/domain/compatibility/subschemas"

/** Of all schemas of one comparison together, for the proofs; as many for the examples. */
const MAX_STEPS = 60_000
const MAX_SIDE_STEPS = 20_000
/** More than one schema can have subschemas. */
const NUMBERS = 10_000_000
/** An Invocation carries nothing else. */
const INPUTS: JsonObject = { type: ["object", "string"] }
const ANYTHING: JsonObject = {}

/** With "no", the example is accepted by the one version and refused by the other. */
export type Compatibility =
  { readonly compatible: "yes" | "not_decided" } | { readonly compatible: "no"; readonly example: Json }

export interface SkillCompatibility {
  readonly skillId: string
  /** Whether those of the old version stay valid. */
  readonly inputs: Compatibility
  /** Whether new ones are valid for old readers. */
  readonly outputs: Compatibility
}

type Compared = Pick<AgentCardSkill, "id" | "inputSchema" | "outputSchema">

/** Of each Skill that both versions have, in the order of the newer one. */
export function skillCompatibilities(
  before: ReadonlyArray<Compared>,
  after: ReadonlyArray<Compared>,
): ReadonlyArray<SkillCompatibility> {
  const older = new Map(before.map((skill) => [skill.id, skill]))
  const pairs = after.flatMap((skill) => {
    const was = older.get(skill.id)
    return was === undefined ? [] : [[was, skill] as const]
  })
  const share = Math.min(Math.floor(MAX_STEPS / Math.max(changedSchemas(pairs), 1)), MAX_SIDE_STEPS)
  return pairs.map(([was, skill]) => ({
    skillId: skill.id,
    inputs: compared({ accepted: was.inputSchema, by: skill.inputSchema, within: INPUTS }, share),
    outputs: compared({ accepted: skill.outputSchema, by: was.outputSchema, within: ANYTHING }, share),
  }))
}

/** Whether each value that the one schema accepts, and `within` too, is accepted by the other. */
export function compatibility(accepted: JsonObject, by: JsonObject, within = ANYTHING): Compatibility {
  return compared({ accepted, by, within }, MAX_SIDE_STEPS)
}

function changedSchemas(pairs: ReadonlyArray<readonly [Compared, Compared]>): number {
  return pairs
    .flatMap(([was, skill]) => [
      canonical(was.inputSchema) === canonical(skill.inputSchema),
      canonical(was.outputSchema) === canonical(skill.outputSchema),
    ])
    .filter((same) => !same).length
}

interface Pair {
  readonly accepted: JsonObject
  readonly by: JsonObject
  readonly within: JsonObject
}

/** Every schema has the same number of steps, so one that is made to cost takes nothing from the others. */
function compared(pair: Pair, steps: number): Compatibility {
  if (canonical(pair.accepted) === canonical(pair.by) || isContained(pair, new Steps(steps)))
    return { compatible: "yes" }
  const example = exampleOf(pair, new Steps(steps))
  return example === undefined ? { compatible: "not_decided" } : { compatible: "no", example }
}

function isContained(pair: Pair, steps: Steps): boolean {
  const evaluation = new Evaluation(steps)
  const containment = new Containment(new Choices(evaluation, steps), evaluation, steps)
  return decided(() => containment.holds(...documents(pair))) ?? false
}

/** Checked against both schemas where it was made; there is no other validator in the Console. */
function exampleOf(pair: Pair, steps: Steps): Json | undefined {
  const evaluation = new Evaluation(steps)
  const examples = new Examples(new Choices(evaluation, steps), evaluation, steps)
  return decided(() => {
    for (const value of examples.between(...documents(pair))) return value
    return undefined
  })
}

function documents({ accepted, by, within }: Pair): readonly [Together, Together] {
  const [first, second, third] = [
    new SchemaDocument(accepted, 1),
    new SchemaDocument(by, 1 + NUMBERS),
    new SchemaDocument(within, 1 + 2 * NUMBERS),
  ]
  return [together([first.root], [third.root]), [second.root]]
}

function decided<Result>(work: () => Result): Result | undefined {
  try {
    return work()
  } catch (problem) {
    if (problem instanceof Undecided) return undefined
    throw problem
  }
}
