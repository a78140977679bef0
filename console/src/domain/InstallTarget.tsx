/** The Workspace to install into: one of the account's own, or a new one. */

import { useQuery } from "@tanstack/react-query"

import type { CurrentWorkspace } from "@/api/currentWorkspace"
import { workspacesAs } from "@/api/queries"
import { Field, Select, TextInput } from "@/components/Field"
import { ProblemNotice } from "@/components/Problems"

export const NEW = ""

export interface Target {
  /** `NEW` for one that is made first. */
  readonly workspaceId: string
  /** The id of the new one. */
  readonly name: string
}

interface InstallTargetProps {
  readonly open: CurrentWorkspace
  readonly target: Target
  readonly onChange: (target: Target) => void
}

/** Callers cannot install: only Workspaces that the account owns are offered. */
export function InstallTarget({ open, target, onChange }: InstallTargetProps) {
  const own = useQuery(workspacesAs("owner"))
  const ids = new Set(open.workspaces.map(({ workspaceId }) => workspaceId))
  if (open.role === "owner" && open.workspaceId !== undefined) ids.add(open.workspaceId)
  if (target.workspaceId !== NEW) ids.add(target.workspaceId)
  return (
    <div className="space-y-3">
      <div className="grid gap-3 sm:grid-cols-2">
        <Field
          label="Workspace"
          hint={
            own.data?.isWhole === false
              ? "Not all of your Workspaces are listed. Open another one to install into it."
              : open.role === "caller"
                ? "Only Workspaces that you own are listed."
                : undefined
          }
        >
          {(control) => (
            <Select
              {...control}
              value={target.workspaceId}
              onChange={(event) => onChange({ workspaceId: event.target.value, name: target.name })}
            >
              {[...ids].map((id) => (
                <option key={id} value={id}>
                  {id}
                </option>
              ))}
              <option value={NEW}>New Workspace…</option>
            </Select>
          )}
        </Field>
        {target.workspaceId === NEW ? (
          <Field label="Id of the new Workspace" hint="Letters, digits and . _ : -">
            {(control) => (
              <TextInput
                {...control}
                value={target.name}
                onChange={(event) => onChange({ workspaceId: NEW, name: event.target.value })}
              />
            )}
          </Field>
        ) : null}
      </div>
      {own.isError ? <ProblemNotice title="Your Workspaces could not be loaded" problem={own.error} /> : null}
    </div>
  )
}
