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
import { snippets } from "@/features/agent/snippets"

export function UseTab({ entry }: { readonly entry: CatalogEntry }) {
  const { workspaceId = "my-workspace" } = useCurrentWorkspace()
  const [capability, setCapability] = useState<string>()
  const { card, agentId, version } = entry
  const skill = card.skills.find(({ id }) => id === capability) ?? card.skills[0]
  if (skill === undefined) return null
  const texts = snippets({
    ...{ gateway: runtimeConfig().apiBaseUrl, workspaceId, agentId, version, capability: skill.id },
    ...{ input: schemaExample(skill.inputSchema), streaming: card.limits.streaming },
  })
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
      <p className="text-sm text-muted">
        The Agent has to be installed in the Workspace <span className="id-text">{workspaceId}</span>, and
        your access token to be in the environment variable <span className="id-text">AOP_TOKEN</span>.
      </p>
      <Tabs
        label="Ways to call it"
        tabs={texts.map(({ name, label, code }) => ({
          name,
          label,
          content: <CodeBlock wrap code={code} what={`${label} snippet`} />,
        }))}
      />
    </div>
  )
}
