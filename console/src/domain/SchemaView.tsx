/** A Skill's schema, readable first, as JSON on demand. */

import { useState } from "react"

import type { JsonObject } from "@/api/contract.gen"
import { Badge } from "@/components/Badge"
import { Button } from "@/components/Button"
import { CodeBlock } from "@/components/CodeBlock"
import { escaped } from "@/components/text/hidden"
import { schemaOutline } from "@/domain/schemaOutline"

/** A long schema is not the first thing to read: as many members as one screen has. */
const SHOWN_MEMBERS = 20

export function SchemaView({ schema, what }: { readonly schema: JsonObject; readonly what: string }) {
  const [asJson, setAsJson] = useState(false)
  const [isWhole, setIsWhole] = useState(false)
  const members = schemaOutline(schema)
  const shown = isWhole ? members : members.slice(0, SHOWN_MEMBERS)
  return (
    <div className="min-w-0">
      <div className="mb-1.5 flex items-center justify-between gap-2">
        <h3 className="text-sm font-medium">{what}</h3>
        <Button tone="quiet" size="small" aria-pressed={asJson} onClick={() => setAsJson(!asJson)}>
          {asJson ? "Outline" : "JSON"}
        </Button>
      </div>
      {asJson ? (
        <CodeBlock code={escaped(JSON.stringify(schema, null, 2))} what={`${what} schema`} />
      ) : (
        <ul className="divide-y divide-line rounded-md border border-line">
          {shown.map((member) => (
            <li key={member.path} className="space-y-0.5 px-3 py-2 text-sm">
              <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
                <code className="id-text font-medium">{member.path === "" ? "(value)" : member.path}</code>
                <span className="text-muted">{member.type}</span>
                {member.required && member.path !== "" ? <Badge>required</Badge> : null}
              </div>
              {member.description ? <p className="text-muted">{member.description}</p> : null}
              {member.bounds.length > 0 ? (
                <p className="text-xs break-words text-muted">{member.bounds.join(" · ")}</p>
              ) : null}
            </li>
          ))}
          {shown.length < members.length ? (
            <li className="px-1 py-1">
              <Button tone="quiet" size="small" onClick={() => setIsWhole(true)}>
                Show all {members.length} members
              </Button>
            </li>
          ) : null}
        </ul>
      )}
    </div>
  )
}
