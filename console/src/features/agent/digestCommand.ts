/** Prints the digest of the Card as the Gateway gives it; it equals the Card digest exactly when nothing was changed. */

import { quoted } from "@/domain/snippets"

export function digestCommand(gateway: string, agentId: string, version: string): string {
  const url = `${gateway}/v1/agents/${encodeURIComponent(agentId)}/versions/${encodeURIComponent(version)}`
  return `curl -sS -H "Authorization: Bearer $AOP_TOKEN" ${quoted(url)} | sha256sum`
}
