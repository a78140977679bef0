/** Which Agent and which of its Skills the snippets call. */

import { getRouteApi } from "@tanstack/react-router"

import type { AgentCard, InstallationItem } from "@/api/contract.gen"
import { Field, Select } from "@/components/Field"
import { missingPermissions, skillChoice } from "@/domain/choice"

const route = getRouteApi("/console/workspaces/$workspaceId/connect")

interface CallFieldsProps {
  readonly enabled: ReadonlyArray<InstallationItem>
  readonly installation: InstallationItem
  /** Absent until it is read. */
  readonly card: AgentCard | undefined
}

export function CallFields({ enabled, installation, card }: CallFieldsProps) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const choose = (chosen: { agent?: string; capability?: string }) =>
    void navigate({ search: (kept) => ({ ...kept, ...chosen }), replace: true, resetScroll: false })
  const choice = card === undefined ? undefined : skillChoice(card, installation, search.capability)
  return (
    <div className="flex flex-wrap items-end gap-4">
      <Field label="Agent" className="w-full sm:w-72">
        {(control) => (
          <Select
            {...control}
            value={installation.agentId}
            onChange={({ target }) => choose({ agent: target.value, capability: undefined })}
          >
            {enabled.map(({ agentId, agentName }) => (
              <option key={agentId} value={agentId}>
                {agentName} ({agentId})
              </option>
            ))}
          </Select>
        )}
      </Field>
      {card === undefined || choice === undefined ? null : (
        <Field label="Skill" className="w-full sm:w-72">
          {(control) => (
            <Select
              {...control}
              value={choice.kind === "unknown" ? "" : choice.skill.id}
              onChange={({ target }) => choose({ capability: target.value })}
            >
              {choice.kind === "unknown" ? <option value="">Choose a Skill</option> : null}
              {card.skills.map((skill) => (
                <option
                  key={skill.id}
                  value={skill.id}
                  disabled={missingPermissions(skill, installation).length > 0}
                >
                  {skill.name}
                </option>
              ))}
            </Select>
          )}
        </Field>
      )}
    </div>
  )
}
