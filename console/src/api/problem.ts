/** Why a request did not succeed: the Gateway's typed refusal, or no usable answer at all. */

import {
  ERROR_CODES,
  PATTERNS,
  REASONS,
  type ErrorCode,
  type OperationId,
  type PlatformErrorReason,
  type PlatformErrorViolation,
} from "@/api/contract.gen"

export type Violation = PlatformErrorViolation

export interface ProblemFacts {
  readonly message: string
  /** What was tried. */
  readonly operation?: OperationId
  readonly code?: ErrorCode
  readonly reason?: PlatformErrorReason
  readonly status?: number
  readonly traceId?: string
  readonly invocationId?: string
  readonly rootTaskId?: string
  readonly violations?: ReadonlyArray<Violation>
}

/** A Platform Error, or a failure to get one; `code` is present exactly when the Gateway said it. */
export class Problem extends Error implements ProblemFacts {
  readonly operation?: OperationId
  readonly code?: ErrorCode
  readonly reason?: PlatformErrorReason
  readonly status?: number
  readonly traceId?: string
  readonly invocationId?: string
  readonly rootTaskId?: string
  readonly violations: ReadonlyArray<Violation>

  constructor(facts: ProblemFacts) {
    super(facts.message)
    this.name = "Problem"
    this.operation = facts.operation
    this.code = facts.code
    this.reason = facts.reason
    this.status = facts.status
    this.traceId = facts.traceId
    this.invocationId = facts.invocationId
    this.rootTaskId = facts.rootTaskId
    this.violations = facts.violations ?? []
  }
}

/** Whether the Gateway said that there is no such thing for this account; any other failure leaves it open. */
export function isAbsent(problem: unknown): boolean {
  return problem instanceof Problem && (problem.code === "NOT_FOUND" || problem.code === "FORBIDDEN")
}

export const UNREACHABLE = "The Gateway could not be reached from this browser."
export const UNREADABLE = "The Gateway's answer could not be read."

/** The problem in the body of an error answer; a body that is not a Platform Error is unreadable. */
export function problemOf(
  status: number,
  body: unknown,
  traceId: string | undefined,
  operation?: OperationId,
): Problem {
  const error = platformError(body)
  if (error === undefined) return new Problem({ message: UNREADABLE, status, traceId, operation })
  return new Problem({ ...error, status, operation })
}

export function platformError(body: unknown): ProblemFacts | undefined {
  if (!isObject(body) || !isCode(body["code"])) return undefined
  const { code, reason, traceId, invocationId, rootTaskId, violations } = body
  if (reason !== undefined && !isReasonOf(code, reason)) return undefined
  if (typeof traceId !== "string" || !PATTERNS.traceId.test(traceId)) return undefined
  return {
    // The fixed message of the code, so that nothing else can ever be shown in its place.
    message: ERROR_CODES[code].message,
    code,
    reason,
    traceId,
    invocationId: typeof invocationId === "string" ? invocationId : undefined,
    rootTaskId: typeof rootTaskId === "string" ? rootTaskId : undefined,
    violations: Array.isArray(violations) ? violations.filter(isViolation) : [],
  }
}

export function isCode(value: unknown): value is ErrorCode {
  return typeof value === "string" && Object.hasOwn(ERROR_CODES, value)
}

function isReasonOf(code: ErrorCode, value: unknown): value is PlatformErrorReason {
  return typeof value === "string" && Object.hasOwn(REASONS[code] ?? {}, value)
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function isViolation(value: unknown): value is Violation {
  return isObject(value) && typeof value["pointer"] === "string" && typeof value["rule"] === "string"
}
