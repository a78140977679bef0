/** Adds a caller by the id of its account. */

import { UserPlus } from "lucide-react"
import { useState } from "react"

import { PATTERNS } from "@/api/contract.gen"
import { useAction } from "@/api/queries"
import { Button } from "@/components/Button"
import { Field, TextInput } from "@/components/Field"
import { ProblemNotice } from "@/components/Problems"
import { useTell } from "@/components/Toasts"

interface AddCallerProps {
  readonly workspaceId: string
  readonly ownerId: string
}

export function AddCaller({ workspaceId, ownerId }: AddCallerProps) {
  const [principalId, setPrincipalId] = useState("")
  const [wasTried, setWasTried] = useState(false)
  const add = useAction("addCaller", ["listCallers"])
  const tell = useTell()
  const error = errorOf(principalId, ownerId)
  const submit = () => {
    setWasTried(true)
    if (error !== undefined) return
    add.mutate(
      { path: { workspaceId, principalId } },
      {
        onSuccess: () => {
          tell(`${principalId} may call the Agents of ${workspaceId}.`)
          setPrincipalId("")
          setWasTried(false)
        },
      },
    )
  }
  return (
    <form
      noValidate
      aria-label="Add a caller"
      className="space-y-3"
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <Field
        label="Account id"
        hint="The id is not looked up: a mistyped id stands for nobody, or for somebody else. People see their own id in the navigation of the Console."
        error={wasTried ? error : undefined}
      >
        {(control) => (
          <div className="flex flex-wrap gap-2">
            <TextInput
              {...control}
              maxLength={128}
              className="w-full sm:w-80"
              value={principalId}
              onChange={(event) => {
                setPrincipalId(event.target.value)
                if (add.isError) add.reset()
              }}
            />
            <Button type="submit" tone="primary" busy={add.isPending}>
              <UserPlus aria-hidden />
              Add
            </Button>
          </div>
        )}
      </Field>
      {add.isError ? <ProblemNotice title="Nobody was added" problem={add.error} /> : null}
    </form>
  )
}

function errorOf(principalId: string, ownerId: string): string | undefined {
  if (!PATTERNS.safeIdentifier.test(principalId))
    return "An account id has 1 to 128 letters, digits and . _ : - and begins with a letter or digit."
  return principalId === ownerId ? "The owner may call already." : undefined
}
