/** How to call a Skill of this version, ready to be pasted. */

import { Link } from "@tanstack/react-router"
import { useState } from "react"

import type { CatalogEntry } from "@/api/contract.gen"
import { useCurrentWorkspace } from "@/api/currentWorkspace"
import { Button } from "@/components/Button"
import { CodeBlock } from "@/components/CodeBlock"
import { Field, Select } from "@/components/Field"
import { Tabs } from "@/components/Tabs"
import { runtimeConfig } from "@/config/runtime"
import { schemaExample } from "@/domain/schemaExample"
import { rendered, snippetNamed } from "@/domain/snippets"

const WAYS = ["curl", "python", "cli"]

export function UseTab({ entry }: { readonly entry: CatalogEntry }) {
  const { workspaceId = "my-workspace" } = useCurrentWorkspace()
  const [capability, setCapability] = useState<string>()
  const { card, agentId } = entry
  const skill = card.skills.find(({ id }) => id === capability) ?? card.skills[0]
  if (skill === undefined) return null
  const call = {
    ...{ agentId, capability: skill.id, input: schemaExample(skill.inputSchema) },
    streaming: card.limits.streaming,
  }
  const callee = { gateway: runtimeConfig().apiBaseUrl, workspaceId, call }
  return (
    <div className="max-w-3xl space-y-4">
      <div className="flex flex-wrap items-end justify-between gap-3">
        <Field label="Skill" className="w-60">
          {(control) => (
            <Select {...control} value={skill.id} onChange={(event) => setCapability(event.target.value)}>
              {card.skills.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <div className="flex flex-wrap gap-2">
          <Button asChild>
            <Link
              to="/workspaces/$workspaceId/connect"
              params={{ workspaceId }}
              search={{ agent: agentId, capability: skill.id }}
            >
              Use it from…
            </Link>
          </Button>
          <Button asChild>
            <Link
              to="/workspaces/$workspaceId/playground"
              params={{ workspaceId }}
              search={{ agent: agentId, capability: skill.id }}
            >
              Try it in the Playground
            </Link>
          </Button>
        </div>
      </div>
      <p className="text-sm text-muted">
        The Agent has to be installed in the Workspace <span className="id-text">{workspaceId}</span>, and
        your access token to be in the environment variable <span className="id-text">AOP_TOKEN</span>.
      </p>
      <Tabs
        label="Ways to call it"
        tabs={WAYS.flatMap((name) => snippetNamed(name) ?? []).map((snippet) => ({
          name: snippet.name,
          label: snippet.label,
          content: <CodeBlock wrap code={rendered(snippet, callee)} what={`${snippet.label} snippet`} />,
        }))}
      />
    </div>
  )
}
