/** Binding the endpoint of the Card to a provider, who will have to prove control of it. */

import { getRouteApi } from "@tanstack/react-router"
import { useState } from "react"

import { PATTERNS, type CatalogEntry } from "@/api/contract.gen"
import { useAction } from "@/api/queries"
import { Button } from "@/components/Button"
import { Field, TextInput } from "@/components/Field"
import { ProblemNotice } from "@/components/Problems"
import { prefer } from "@/config/preferences"

const route = getRouteApi("/console/publish")

export function BindingStep({
  entry,
  providerId,
}: {
  readonly entry: CatalogEntry
  readonly providerId: string
}) {
  const navigate = route.useNavigate()
  const [provider, setProvider] = useState(providerId)
  const bind = useAction("createEndpointBinding", ["listEndpointBindings"])
  const { endpoint } = entry.card.protocol
  const submit = () => {
    const path = { providerId: provider, agentId: entry.agentId }
    bind.mutate(
      { path, body: { endpoint, method: "http_well_known", version: entry.version } },
      {
        onSuccess: () => {
          prefer("provider", provider)
          void navigate({ search: (kept) => ({ ...kept, provider }), replace: true })
        },
      },
    )
  }
  return (
    <form
      className="max-w-xl space-y-4"
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <p className="text-sm text-muted">
        The Binding names the endpoint <span className="id-text text-ink">{endpoint}</span> of the Card.
        Another endpoint needs another Card version.
      </p>
      <Field
        label="Provider id"
        hint="Your first Binding makes this id yours. An Agent stays with the provider of its first Binding."
        error={
          provider !== "" && !PATTERNS.safeIdentifier.test(provider)
            ? "Letters, digits and . _ : - only"
            : undefined
        }
      >
        {(control) => (
          <TextInput {...control} value={provider} onChange={(event) => setProvider(event.target.value)} />
        )}
      </Field>
      <Button
        type="submit"
        tone="primary"
        busy={bind.isPending}
        disabled={!PATTERNS.safeIdentifier.test(provider)}
      >
        Bind the endpoint
      </Button>
      {bind.isError ? <ProblemNotice title="The endpoint was not bound" problem={bind.error} /> : null}
    </form>
  )
}
