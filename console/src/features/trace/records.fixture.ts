/** Records of a Trace for tests: ids as fields, times in milliseconds from one moment. */

import type { InvocationRecord } from "@/api/contract.gen"

interface RecordFields {
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

export function aRecord(invocationId: string, fields: RecordFields): InvocationRecord {
  const { createdAt, status = "succeeded", latencyMs = 5 } = fields
  return {
    invocationId,
    rootTaskId: "task_1",
    parentInvocationId: fields.parent,
    traceId: "1".repeat(32),
    caller: fields.parent === undefined ? { type: "user", id: "alice" } : { type: "agent", id: "x" },
    workspaceId: "space",
    targetAgentId: fields.agent ?? "acme:agent",
    agentCardVersion: "1.0.0",
    agentReleaseId: "rel_1",
    agentCardDigest: "0".repeat(64),
    capability: fields.capability ?? "work",
    status,
    latencyMs,
    createdAt: at(createdAt),
    updatedAt: at(fields.updatedAt ?? createdAt + latencyMs),
    deadlineAt: at(fields.deadlineAt ?? createdAt + 60_000),
  }
}
