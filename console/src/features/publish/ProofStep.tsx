/** Proving the endpoint: a challenge, its proof served by the Agent, one check before it expires. */

import { useState } from "react"

import type { CatalogEntry, Challenge, EndpointBinding } from "@/api/contract.gen"
import { call } from "@/api/http"
import { useAction } from "@/api/queries"
import { Button } from "@/components/Button"
import { CopyButton } from "@/components/CopyButton"
import { ProblemNotice } from "@/components/Problems"
import { useTell } from "@/components/Toasts"
import { Countdown } from "@/features/publish/Countdown"

interface ProofStepProps {
  readonly entry: CatalogEntry
  readonly binding: EndpointBinding
}

const FAILURES: Readonly<Record<NonNullable<EndpointBinding["verificationFailureCode"]>, string>> = {
  wrong_proof: "the endpoint did not answer with the proof",
  challenge_expired: "the challenge was completed after its expiry",
  disallowed_network: "the endpoint is in a network that the platform must not contact",
  endpoint_unavailable: "the endpoint could not be reached",
  redirect_not_allowed: "the endpoint answered with a redirect",
}

export function ProofStep({ entry, binding }: ProofStepProps) {
  const path = { providerId: binding.providerId, bindingId: binding.bindingId }
  // The proof lives in this state alone: not in a cache, and gone as soon as the challenge is spent.
  const [challenge, setChallenge] = useState<Challenge>()
  const [asking, setAsking] = useState(false)
  const [refused, setRefused] = useState<unknown>()
  const complete = useAction("completeChallenge", ["listEndpointBindings", "readRelease"])
  const tell = useTell()

  const issue = () => {
    setAsking(true)
    setRefused(undefined)
    complete.reset()
    call("createChallenge", { path })
      .then(setChallenge, setRefused)
      .finally(() => setAsking(false))
  }
  const check = (challengeId: string) => {
    complete.mutate(
      { path: { ...path, challengeId } },
      {
        onSuccess: () => tell("The endpoint is proven. Remove the proof from the Agent."),
        onSettled: () => setChallenge(undefined),
      },
    )
  }
  const failedBefore = binding.verificationStatus === "failed" || complete.isError
  const create = (
    <Button tone="primary" busy={asking} onClick={issue}>
      {failedBefore ? "Create a fresh challenge" : "Create a challenge"}
    </Button>
  )
  return (
    <div className="max-w-2xl space-y-4">
      <LastFailure binding={binding} shown={complete.isError} />
      {complete.isError ? (
        <ProblemNotice title="The endpoint was not proven" problem={complete.error} action={create} />
      ) : null}
      {refused === undefined ? null : <ProblemNotice title="No challenge was created" problem={refused} />}
      {challenge === undefined ? (
        <>
          <p className="text-sm text-muted">
            The platform gives you a proof once. The Agent at{" "}
            <span className="id-text text-ink">{entry.card.protocol.endpoint}</span> has to serve exactly this
            text until you press “Check now”. Each challenge is checked once, and its proof is only on this
            page: after a failed check or a reload, create a fresh one.
          </p>
          {complete.isError ? null : create}
        </>
      ) : (
        <OpenChallenge
          challenge={challenge}
          busy={complete.isPending}
          onCheck={() => check(challenge.challengeId)}
          onFresh={issue}
        />
      )}
    </div>
  )
}

function LastFailure({ binding, shown }: { readonly binding: EndpointBinding; readonly shown: boolean }) {
  const code = binding.verificationFailureCode
  if (code === undefined || shown) return null
  return (
    <p role="status" className="rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
      The last check failed: {FAILURES[code]} (<span className="id-text">{code}</span>). Its challenge is used
      up. Correct the Agent, then create a fresh challenge.
    </p>
  )
}

interface OpenChallengeProps {
  readonly challenge: Challenge
  readonly busy: boolean
  readonly onCheck: () => void
  readonly onFresh: () => void
}

function OpenChallenge({ challenge, busy, onCheck, onFresh }: OpenChallengeProps) {
  const [expired, setExpired] = useState(false)
  return (
    <div className="space-y-4 rounded-lg border border-line bg-surface p-4">
      <Line label="Serve at" text={challenge.challengeUrl} what="URL" />
      <Line label="exactly this text, without a newline" text={challenge.proof} what="proof" />
      <p className="text-sm text-muted">
        An Agent made with <span className="id-text">aop init</span> serves each file of its challenge
        directory: name it <span className="id-text">{challenge.challengeId}</span>.
      </p>
      <div className="flex flex-wrap items-center gap-3">
        {expired ? (
          <Button tone="primary" onClick={onFresh}>
            Create a fresh challenge
          </Button>
        ) : (
          <Button tone="primary" busy={busy} onClick={onCheck}>
            Check now
          </Button>
        )}
        <Countdown until={challenge.expiresAt} onEnd={() => setExpired(true)} />
      </div>
    </div>
  )
}

function Line({
  label,
  text,
  what,
}: {
  readonly label: string
  readonly text: string
  readonly what: string
}) {
  return (
    <div>
      <p className="mb-1 text-sm font-medium">{label}</p>
      <div className="flex items-start justify-between gap-2 rounded-md bg-sunken py-1.5 pr-1.5 pl-3">
        <code className="py-1 id-text">{text}</code>
        <CopyButton text={text} what={what} />
      </div>
    </div>
  )
}
