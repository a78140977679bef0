/** Records of a Trace for tests: ids as told, times in milliseconds from one moment. */

import type { InvocationRecord } from "@/api/contract.gen"

interface Told {
  readonly createdAt: number
  readonly parent?: string
  readonly status?: InvocationRecord["status"]
  readonly latencyMs?: number
  readonly updatedAt?: number
  readonly deadlineAt?: number
  readonly agent?: string
  readonly capability?: string
}

export const MOMENT = Date.parse("2026-03-02T10:00:00Z")

export function at(milliseconds: number): string {
  return new Date(MOMENT + milliseconds).toISOString().replace("Z", "000Z")
}

export function aRecord(invocationId: string, told: Told): InvocationRecord {
  const { createdAt, status = "succeeded", latencyMs = 5 } = told
  return {
    invocationId,
    rootTaskId: "task_1",
    parentInvocationId: told.parent,
    traceId: "1".repeat(32),
    caller: told.parent === undefined ? { type: "user", id: "alice" } : { type: "agent", id: "x" },
    workspaceId: "space",
    targetAgentId: told.agent ?? "acme:agent",
    agentCardVersion: "1.0.0",
    agentReleaseId: "rel_1",
    agentCardDigest: "0".repeat(64),
    capability: told.capability ?? "work",
    status,
    latencyMs,
    createdAt: at(createdAt),
    updatedAt: at(told.updatedAt ?? createdAt + latencyMs),
    deadlineAt: at(told.deadlineAt ?? createdAt + 60_000),
  }
}
