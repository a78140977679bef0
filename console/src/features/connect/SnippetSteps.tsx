/** One snippet as steps: what to install, where the token comes from, the text itself, and what to do then. */

import type { ReactNode } from "react"

import { CodeBlock } from "@/components/CodeBlock"
import { Panel } from "@/components/Panel"
import { missing, rendered, tokenText, type Callee, type Snippet } from "@/domain/snippets"

interface SnippetStepsProps {
  readonly snippet: Snippet
  readonly callee: Callee
}

export function SnippetSteps({ snippet, callee }: SnippetStepsProps) {
  const [lacking] = missing(snippet, callee)
  return (
    <Panel title={snippet.label} description={`Speaks ${snippet.speaks}.`}>
      {lacking === undefined ? <Steps snippet={snippet} callee={callee} /> : <Lacking what={lacking} />}
    </Panel>
  )
}

function Steps({ snippet, callee }: SnippetStepsProps) {
  const { label, install, place, after } = snippet
  return (
    <ol className="list-decimal space-y-4 pl-5 marker:text-muted">
      {install === undefined ? null : (
        <Step text="Install what it needs.">
          <CodeBlock wrap code={install} what={`command that installs what ${label} needs`} />
        </Step>
      )}
      <Step text={tokenText(snippet, callee)} />
      <Step text={place === undefined ? "Run this." : `Put this into ${place}.`}>
        <CodeBlock code={rendered(snippet, callee)} what={`${label} snippet`} />
      </Step>
      {after === undefined ? null : <Step text={after} />}
    </ol>
  )
}

function Step({ text, children }: { readonly text: string; readonly children?: ReactNode }) {
  return (
    <li className="space-y-2 pl-1">
      <p className="break-words">{text}</p>
      {children}
    </li>
  )
}

const LACKING = {
  agent: "No Skill of this Agent may be used in this Workspace with the permissions that were accepted.",
  door: "It calls the door of the platform, and this Console does not know where that is. Whoever runs the Console sets VITE_PLATFORM_DOOR_ORIGIN.",
} as const

function Lacking({ what }: { readonly what: keyof typeof LACKING }) {
  return <p className="text-muted">{LACKING[what]}</p>
}
