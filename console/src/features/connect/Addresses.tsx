/** The addresses behind the snippets, for a program that is not in the list. */

import type { ReactNode } from "react"

import { CopyButton } from "@/components/CopyButton"
import { Panel } from "@/components/Panel"
import { a2aUrl, mcpUrl, type Callee } from "@/domain/snippets"

export function Addresses({ callee }: { readonly callee: Callee }) {
  return (
    <Panel title="Addresses" className="self-start">
      <dl className="space-y-3 text-sm">
        <Address name="MCP server of this Workspace" url={mcpUrl(callee)} />
        <Address name="A2A address of this Agent" url={a2aUrl(callee)} />
        <Address name="Gateway" url={callee.gateway} />
      </dl>
      <p className="mt-3 text-xs text-muted">
        Each needs an access token in the header <span className="id-text">Authorization: Bearer</span>, never
        in the address.
      </p>
    </Panel>
  )
}

function Address({ name, url }: { readonly name: string; readonly url: string | undefined }): ReactNode {
  if (url === undefined) return null
  return (
    <div>
      <dt className="text-muted">{name}</dt>
      <dd className="flex items-start gap-1">
        <span className="min-w-0 id-text break-all">{url}</span>
        <CopyButton text={url} what={name} className="-mt-0.5 size-6 shrink-0 [&_svg]:size-3.5" />
      </dd>
    </div>
  )
}
