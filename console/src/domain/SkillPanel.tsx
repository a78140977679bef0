/** One Skill of a version: what it does, needs, takes and gives. */

import type { AgentCardSkill } from "@/api/contract.gen"
import { Badge } from "@/components/Badge"
import { Panel } from "@/components/Panel"
import { SchemaView } from "@/domain/SchemaView"

export function SkillPanel({ skill }: { readonly skill: AgentCardSkill }) {
  return (
    <Panel
      title={skill.name}
      label={`Skill ${skill.id}`}
      actions={
        <Badge tone="accent" className="id-text">
          {skill.id}
        </Badge>
      }
    >
      <p className="text-muted">{skill.description}</p>
      {skill.requiredPermissions.length > 0 ? (
        <p className="mt-2 flex flex-wrap items-center gap-1.5 text-sm text-muted">
          Needs
          {skill.requiredPermissions.map((id) => (
            <Badge key={id} className="id-text">
              {id}
            </Badge>
          ))}
        </p>
      ) : null}
      <div className="mt-4 space-y-5">
        <SchemaView schema={skill.inputSchema} what="Input" />
        <SchemaView schema={skill.outputSchema} what="Output" />
      </div>
    </Panel>
  )
}
