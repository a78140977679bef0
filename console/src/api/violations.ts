/** What a broken rule means, as the end of a sentence that begins with the place: "/name is too short". */

const PHRASES: Readonly<Record<string, string>> = {
  additional_member: "has an unknown member",
  const: "is not the only allowed value",
  depth: "is nested too deeply",
  enum: "is not one of the allowed values",
  exclusiveMaximum: "is too large",
  exclusiveMinimum: "is too small",
  format: "does not have the required form",
  maximum: "is too large",
  maxItems: "has too many items",
  maxLength: "is too long",
  minimum: "is too small",
  minItems: "has too few items",
  minLength: "is too short",
  multipleOf: "is not a multiple of the required number",
  pattern: "does not have the required form",
  required: "is required",
  type: "has the wrong type",
  uniqueItems: "has the same item twice",
  "CARD-1": "is also the id of another Skill",
  "CARD-2": "is also the id of another permission",
  "CARD-3": "is not among the permissions of the Card",
  "CARD-4": "is not written as plain digits",
  "CARD-5": "is a number that cannot be kept exactly",
  "CARD-6": "is not a schema that the platform can check safely",
}

export function phraseOf(rule: string): string {
  return PHRASES[rule] ?? "breaks a rule"
}
