/** Texts to paste: the same call with curl, Python and the command line. The token stays in an environment variable. */

import type { Json } from "@/api/contract.gen"
import { escaped } from "@/components/text/hidden"

export interface Use {
  readonly gateway: string
  readonly workspaceId: string
  readonly agentId: string
  readonly version: string
  readonly capability: string
  readonly input: Json
  readonly streaming: boolean
}

export interface Snippet {
  readonly name: "curl" | "python" | "cli"
  readonly label: string
  readonly code: string
}

export function snippets(use: Use): ReadonlyArray<Snippet> {
  return [
    { name: "curl", label: "curl", code: curl(use) },
    { name: "python", label: "Python", code: python(use) },
    { name: "cli", label: "Command line", code: cli(use) },
  ]
}

/** Prints the digest of the Card as the Gateway gives it; it equals the Card digest exactly when nothing was changed. */
export function digestCommand(gateway: string, agentId: string, version: string): string {
  const url = `${gateway}/v1/agents/${encodeURIComponent(agentId)}/versions/${encodeURIComponent(version)}`
  return `curl -sS -H "Authorization: Bearer $AOP_TOKEN" ${quoted(url)} | sha256sum`
}

function curl({ gateway, workspaceId, agentId, capability, input, streaming }: Use): string {
  const url = `${gateway}/v1/workspaces/${encodeURIComponent(workspaceId)}/invocations`
  const call = (stream: boolean, options: string) =>
    [
      `curl -sS${options} -H "Authorization: Bearer $AOP_TOKEN" -H 'Content-Type: application/json' \\`,
      `  ${quoted(url)} \\`,
      `  -d ${quoted(escaped(JSON.stringify({ agentId, capability, stream, input })))}`,
    ].join("\n")
  const whole = call(false, "")
  return streaming ? `${whole}\n\n# piece by piece\n${call(true, "N")}` : whole
}

function python({ gateway, workspaceId, agentId, capability, input, streaming }: Use): string {
  const called = [workspaceId, agentId, capability].map((text) => JSON.stringify(text)).join(", ")
  const lines = [
    "import json",
    "import os",
    "",
    "from aop.client import SyncClient",
    "",
    `given = json.loads(${JSON.stringify(escaped(JSON.stringify(input)))})`,
    `with SyncClient(${JSON.stringify(gateway)}, os.environ["AOP_TOKEN"]) as client:`,
    `    print(client.invoke(${called}, given).value)`,
  ]
  if (streaming) {
    lines.push(
      `    with client.stream(${called}, given) as chunks:`,
      "        for chunk in chunks:",
      "            print(chunk)",
    )
  }
  return lines.join("\n")
}

function cli({ gateway, workspaceId, agentId, version, capability, input, streaming }: Use): string {
  const place = `--workspace ${quoted(workspaceId)}`
  const call = `${called(`aop invoke ${quoted(agentId)} ${quoted(capability)}`, input)} ${place}`
  return [
    `export AOP_GATEWAY=${quoted(gateway)}`,
    `aop install ${quoted(agentId)} --version ${quoted(version)} ${place}`,
    call,
    ...(streaming ? [`${call} --stream`] : []),
  ].join("\n")
}

/** A text is the argument itself; one that the command would read as something else goes through stdin. */
function called(command: string, input: Json): string {
  if (typeof input !== "string") return `${command} ${quoted(escaped(JSON.stringify(input)))}`
  return /^[\s{@-]|^$/.test(input) || escaped(input) !== input
    ? `printf %s ${quoted(escaped(input))} | ${command} - --text`
    : `${command} ${quoted(input)}`
}

/** One word for a POSIX shell, quoted only where it must be. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
