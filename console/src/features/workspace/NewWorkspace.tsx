/** Creates a Workspace; its id is chosen by its owner and never changes. */

import { useNavigate } from "@tanstack/react-router"
import { Plus } from "lucide-react"
import { useState } from "react"

import { PATTERNS } from "@/api/contract.gen"
import { useAction } from "@/api/queries"
import { Button } from "@/components/Button"
import { Field, TextInput } from "@/components/Field"
import { Panel } from "@/components/Panel"
import { ProblemNotice } from "@/components/Problems"
import { useTell } from "@/components/Toasts"

const FORM =
  "1 to 128 letters, digits and . _ : - beginning with a letter or digit. It cannot be changed later."

export function NewWorkspace() {
  const [workspaceId, setWorkspaceId] = useState("")
  const [wasTried, setWasTried] = useState(false)
  const create = useAction("createWorkspace", ["listWorkspaces"])
  const navigate = useNavigate()
  const tell = useTell()
  const isId = PATTERNS.safeIdentifier.test(workspaceId)
  const submit = () => {
    setWasTried(true)
    if (!isId) return
    create.mutate(
      { body: { workspaceId } },
      {
        onSuccess: () => {
          tell(`Workspace ${workspaceId} is created.`)
          void navigate({ to: "/workspaces/$workspaceId", params: { workspaceId } })
        },
      },
    )
  }
  return (
    <Panel title="New Workspace">
      <form
        noValidate
        aria-label="New Workspace"
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <Field label="Workspace id" hint={FORM} error={wasTried && !isId ? "This is not an id." : undefined}>
          {(control) => (
            <div className="flex flex-wrap gap-2">
              <TextInput
                {...control}
                maxLength={128}
                className="w-full sm:w-80"
                value={workspaceId}
                onChange={(event) => {
                  setWorkspaceId(event.target.value)
                  if (create.isError) create.reset()
                }}
              />
              <Button type="submit" tone="primary" busy={create.isPending}>
                <Plus aria-hidden />
                Create
              </Button>
            </div>
          )}
        </Field>
        {create.isError ? (
          <ProblemNotice
            title={
              create.error.code === "CONFLICT"
                ? `The id ${workspaceId} is taken`
                : "The Workspace was not created"
            }
            problem={create.error}
          />
        ) : null}
      </form>
    </Panel>
  )
}
