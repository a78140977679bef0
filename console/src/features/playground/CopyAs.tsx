/** The call as it stands in the form, as text for other programs. */

import { ClipboardCopy } from "lucide-react"
import { useState } from "react"

import type { InstallationItem, JsonObject } from "@/api/contract.gen"
import { Button } from "@/components/Button"
import { CodeBlock } from "@/components/CodeBlock"
import { Dialog } from "@/components/Dialog"
import { Menu, MenuItem, MenuLabel } from "@/components/Menu"
import { useTell } from "@/components/Toasts"
import { runtimeConfig } from "@/config/runtime"
import { toolCall, toolNames } from "@/domain/mcpCall"
import { rendered, snippetNamed } from "@/domain/snippets"
import type { SkillInput } from "@/features/playground/formValue"
import type { Tried } from "@/features/playground/runs"

const FORMS = [
  { name: "curl", label: "curl" },
  { name: "cli", label: "CLI" },
  { name: "python", label: "Python" },
  { name: "typescript", label: "TypeScript" },
  { name: "mcp", label: "MCP" },
] as const

type FormName = (typeof FORMS)[number]["name"]

export interface Copied extends Tried {
  readonly schema: JsonObject
  readonly input: SkillInput
  readonly stream: boolean
  /** All that can be called in the Workspace: names of MCP tools depend on one another. */
  readonly installations: ReadonlyArray<InstallationItem>
}

export function CopyAs({ call, disabled }: { readonly call: Copied; readonly disabled: boolean }) {
  const tell = useTell()
  /** Shown to be copied by hand where the browser does not let a page do it. */
  const [uncopied, setUncopied] = useState<{ readonly label: string; readonly text: string }>()
  const copy = async (name: FormName, label: string) => {
    const text = await textOf(name, call)
    try {
      await navigator.clipboard.writeText(text)
      tell(`Copied for ${label}. It contains the input, but no access token.`)
    } catch {
      setUncopied({ label, text })
    }
  }
  return (
    <>
      <Menu
        trigger={
          <Button disabled={disabled}>
            <ClipboardCopy aria-hidden />
            Copy as
          </Button>
        }
      >
        <MenuLabel>This call, with the input above</MenuLabel>
        {FORMS.map(({ name, label }) => (
          <MenuItem key={name} onSelect={() => void copy(name, label)}>
            {label}
          </MenuItem>
        ))}
      </Menu>
      {uncopied === undefined ? null : (
        <Dialog
          open
          onClose={() => setUncopied(undefined)}
          title={`The call for ${uncopied.label}`}
          width="wide"
        >
          <CodeBlock code={uncopied.text} what="call" />
        </Dialog>
      )}
    </>
  )
}

async function textOf(name: FormName, call: Copied): Promise<string> {
  if (name === "mcp") {
    const skills = call.installations
      .filter(({ status }) => status === "enabled")
      .flatMap(({ agentId, skills: own }) =>
        own.filter((skill) => skill.permissionsAccepted).map(({ id }) => ({ agentId, skillId: id })),
      )
    const names = await toolNames(skills)
    const at = skills.findIndex(
      ({ agentId, skillId }) => agentId === call.agentId && skillId === call.capability,
    )
    // Two ids that somebody made so that their marks are equal: neither is a tool.
    return toolCall(names[at] ?? "(this Skill is no tool)", call.schema, call.input)
  }
  const snippet = snippetNamed(name)
  if (snippet === undefined) throw new Error(`There is no snippet ${name}.`)
  const { agentId, capability, input, stream: streaming, workspaceId } = call
  return rendered(snippet, {
    gateway: runtimeConfig().apiBaseUrl,
    workspaceId,
    call: { agentId, capability, input, streaming },
  })
}
