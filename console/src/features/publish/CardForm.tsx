/** The Card as a form: every member of it, each with the rules it breaks next to it. */

import { Plus, Trash2 } from "lucide-react"
import type { ReactNode } from "react"

import type { JsonObject } from "@/api/contract.gen"
import { asList, valueAt } from "@/api/json"
import { Button } from "@/components/Button"
import { Switch } from "@/components/Field"
import { Panel } from "@/components/Panel"
import type { FoundViolation } from "@/components/ViolationText"
import { errorAt, NumberMember, SelectMember, TextMember, type Edited } from "@/features/publish/CardMembers"
import { SkillFields } from "@/features/publish/SkillFields"
import { newSkill, withoutItem, withValueAt } from "@/features/publish/cardDraft"

const AUTHENTICATION = ["http_bearer", "none", "api_key", "oauth2_client_credentials", "mutual_tls"]

interface CardFormProps {
  readonly card: JsonObject
  readonly violations: ReadonlyArray<FoundViolation>
  readonly onChange: (card: JsonObject) => void
}

export function CardForm({ card, violations, onChange }: CardFormProps) {
  const edited: Edited = {
    card,
    violations,
    set: (pointer, value) => onChange(withValueAt(card, pointer, value)),
  }
  return (
    <div className="space-y-5">
      <Panel title="Agent">
        <div className="grid gap-3 sm:grid-cols-2">
          <TextMember
            {...edited}
            pointer="/agentId"
            label="Agent id"
            hint="Permanent; for example acme:summarizer"
          />
          <TextMember {...edited} pointer="/version" label="Version" hint="Three numbers, like 1.0.0" />
          <TextMember {...edited} pointer="/name" label="Name" />
          <TextMember
            {...edited}
            pointer="/protocol/endpoint"
            label="Endpoint"
            hint="Where the Agent answers A2A"
          />
          <TextMember {...edited} pointer="/description" label="Description" long className="sm:col-span-2" />
          <TextMember {...edited} pointer="/owner/id" label="Owner id" hint="Your account" />
          <TextMember {...edited} pointer="/owner/displayName" label="Owner's name" />
        </div>
      </Panel>
      <List
        title="Skills"
        item="Skill"
        pointer="/skills"
        card={card}
        problem={errorAt(violations, "/skills")}
        fresh={newSkill()}
        onChange={onChange}
      >
        {(pointer) => <SkillFields edited={edited} pointer={pointer} />}
      </List>
      <List
        title="Permissions"
        item="Permission"
        pointer="/permissions"
        card={card}
        problem={errorAt(violations, "/permissions")}
        fresh={{ id: "", description: "" }}
        onChange={onChange}
      >
        {(pointer) => (
          <div className="grid gap-3 sm:grid-cols-2">
            <TextMember {...edited} pointer={`${pointer}/id`} label="Permission id" />
            <TextMember {...edited} pointer={`${pointer}/description`} label="What it allows" />
          </div>
        )}
      </List>
      <Panel title="Limits and authentication">
        <div className="grid gap-3 sm:grid-cols-2">
          <NumberMember {...edited} pointer="/limits/timeoutMs" label="Time limit (ms)" />
          <NumberMember {...edited} pointer="/limits/maxInputBytes" label="Largest input (bytes)" />
          <NumberMember {...edited} pointer="/limits/maxOutputBytes" label="Largest output (bytes)" />
          <SelectMember
            {...edited}
            pointer="/authentication/type"
            label="Authentication"
            options={AUTHENTICATION}
            hint="Only http_bearer can be invoked through the Router"
          />
          <Switch
            label="The Agent can stream"
            checked={valueAt(card, "/limits/streaming") === true}
            onChange={(event) => edited.set("/limits/streaming", event.target.checked)}
          />
        </div>
      </Panel>
    </div>
  )
}

interface ListProps {
  readonly title: string
  readonly item: string
  readonly pointer: string
  readonly card: JsonObject
  readonly problem: ReactNode
  readonly fresh: JsonObject
  readonly onChange: (card: JsonObject) => void
  readonly children: (pointer: string) => ReactNode
}

function List({ title, item, pointer, card, problem, fresh, onChange, children }: ListProps) {
  const items = asList(valueAt(card, pointer))
  return (
    <Panel
      title={title}
      actions={
        <Button size="small" onClick={() => onChange(withValueAt(card, pointer, [...items, fresh]))}>
          <Plus aria-hidden />
          Add {item}
        </Button>
      }
    >
      {problem ? <p className="mb-3 text-xs font-medium text-bad">{problem}</p> : null}
      {items.length === 0 ? <p className="text-sm text-muted">None.</p> : null}
      <ol className="space-y-6">
        {items.map((_, index) => (
          <li key={index} aria-label={`${item} ${index + 1}`}>
            <div className="mb-1 flex items-center justify-between gap-2">
              <span className="text-sm font-semibold text-muted">
                {item} {index + 1}
              </span>
              <Button
                tone="quiet"
                size="iconSmall"
                aria-label={`Remove ${item} ${index + 1}`}
                onClick={() => onChange(withoutItem(card, pointer, index))}
              >
                <Trash2 aria-hidden />
              </Button>
            </div>
            {children(`${pointer}/${index}`)}
          </li>
        ))}
      </ol>
    </Panel>
  )
}
