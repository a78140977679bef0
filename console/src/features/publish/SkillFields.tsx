/** One Skill of the Card. */

import type { Json } from "@/api/contract.gen"
import { asList, valueAt } from "@/api/json"
import { Checkbox } from "@/components/Field"
import { errorAt, JsonMember, TextMember, type Edited } from "@/features/publish/CardMembers"

export function SkillFields({ edited, pointer }: { readonly edited: Edited; readonly pointer: string }) {
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <TextMember {...edited} pointer={`${pointer}/id`} label="Skill id" hint="The capability" />
      <TextMember {...edited} pointer={`${pointer}/name`} label="Skill name" />
      <TextMember
        {...edited}
        pointer={`${pointer}/description`}
        label="What it does"
        long
        className="sm:col-span-2"
      />
      <JsonMember {...edited} pointer={`${pointer}/inputSchema`} label="Input schema" />
      <JsonMember {...edited} pointer={`${pointer}/outputSchema`} label="Output schema" />
      <RequiredPermissions edited={edited} pointer={`${pointer}/requiredPermissions`} />
    </div>
  )
}

function RequiredPermissions({ edited, pointer }: { readonly edited: Edited; readonly pointer: string }) {
  const declared = texts(valueAt(edited.card, "/permissions"), "id")
  const needed = texts(valueAt(edited.card, pointer))
  const error = errorAt(edited.violations, pointer, true)
  const offered = [...new Set([...declared, ...needed])].filter((id) => id !== "")
  if (offered.length === 0 && error === undefined) return null
  return (
    <fieldset className="space-y-1.5 sm:col-span-2">
      <legend className="mb-1 text-sm font-medium">Permissions it needs</legend>
      {offered.map((id) => (
        <Checkbox
          key={id}
          label={<span className="id-text">{id}</span>}
          checked={needed.includes(id)}
          onChange={({ target }) =>
            edited.set(pointer, target.checked ? [...needed, id] : needed.filter((each) => each !== id))
          }
        />
      ))}
      {error ? (
        <p role="alert" className="text-xs font-medium text-bad">
          {error}
        </p>
      ) : null}
    </fieldset>
  )
}

/** The texts of a list, or those of one member of its objects; anything else is passed over. */
function texts(value: Json | undefined, member?: string): string[] {
  return asList(value)
    .map((item) => (member === undefined ? item : valueAt(item, `/${member}`)))
    .filter((item) => typeof item === "string")
}
