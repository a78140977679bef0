/** What every field of an input form knows: the whole schema, the violations by field, and how to say that it is unfinished. */

import { createContext, use } from "react"

import type { JsonObject } from "@/api/contract.gen"
import type { FoundViolation } from "@/components/ViolationText"

export interface InputForm {
  readonly root: JsonObject
  readonly violations: ReadonlyMap<string, ReadonlyArray<FoundViolation>>
  /** A field holds text that is no value yet, or no longer. */
  readonly onUnfinished: (pointer: string, isUnfinished: boolean) => void
}

export const FormContext = createContext<InputForm>({
  root: {},
  violations: new Map(),
  onUnfinished: () => undefined,
})

export function useInputForm(): InputForm {
  return use(FormContext)
}
