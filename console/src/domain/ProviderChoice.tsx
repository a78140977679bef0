/** Names the provider whose Agents are meant; there is no list of providers to choose from. */

import { useState } from "react"

import { PATTERNS } from "@/api/contract.gen"
import { Button } from "@/components/Button"
import { Field, TextInput } from "@/components/Field"
import { prefer } from "@/config/preferences"

interface ProviderChoiceProps {
  readonly providerId: string | undefined
  readonly onChoose: (providerId: string) => void
}

export function ProviderChoice({ providerId = "", onChoose }: ProviderChoiceProps) {
  const [typed, setTyped] = useState(providerId)
  const readable = PATTERNS.safeIdentifier.test(typed)
  return (
    <form
      className="flex max-w-md items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        if (!readable) return
        prefer("provider", typed)
        onChoose(typed)
      }}
    >
      <Field label="Provider id" className="flex-1">
        {(control) => (
          <TextInput {...control} value={typed} onChange={(event) => setTyped(event.target.value)} />
        )}
      </Field>
      <Button type="submit" disabled={!readable || typed === providerId}>
        Show
      </Button>
    </form>
  )
}
