/** The way back from the OpenID provider: its answer becomes a session, or the page says why it does not. */

import { useQuery } from "@tanstack/react-query"
import { useEffect } from "react"

import { callWith } from "@/api/http"
import { startProviderSession } from "@/api/oidc/current"
import { finishSignIn, type FinishedSignIn } from "@/api/oidc/login"
import { ProviderUnusable } from "@/api/oidc/provider"
import { Button } from "@/components/Button"
import { ProblemNotice } from "@/components/Problems"
import { Spinner } from "@/components/Spinner"
import { useTell } from "@/components/Toasts"
import { ownPath } from "@/config/urlState"
import { runtimeConfig } from "@/config/runtime"
import { SignInFrame } from "@/features/sign-in/SignInFrame"

interface ProviderAnswerProps {
  readonly answer: URLSearchParams
  readonly onDone: (next: string) => void
  readonly onAgain: () => void
}

export function ProviderAnswer({ answer, onDone, onAgain }: ProviderAnswerProps) {
  const tell = useTell()
  const finished = useQuery({
    queryKey: ["provider-answer", answer.get("state")],
    queryFn: () => identified(answer),
    staleTime: Infinity,
    gcTime: 0, // it holds tokens
  })
  useEffect(() => {
    if (finished.data === undefined) return
    startProviderSession(finished.data.tokens)
    tell(`You are now ${finished.data.principalId}.`)
    onDone(ownPath(finished.data.next) ?? "/discover")
    // oxlint-disable-next-line react/exhaustive-deps -- once, when the answer is there
  }, [finished.data])
  if (finished.isError) {
    return (
      <SignInFrame title="You are not signed in">
        <ProblemNotice problem={finished.error} />
        <Button onClick={onAgain}>Back to sign-in</Button>
      </SignInFrame>
    )
  }
  return (
    <SignInFrame title="Signing in">
      <p role="status" className="flex items-center gap-2 text-muted">
        <Spinner /> The sign-in provider is asked for your tokens.
      </p>
    </SignInFrame>
  )
}

/** Signed in at the provider, and taken by the Gateway. */
async function identified(
  answer: URLSearchParams,
): Promise<FinishedSignIn & { readonly principalId: string }> {
  const { provider } = runtimeConfig()
  if (provider === undefined) throw new ProviderUnusable("This Console has no sign-in provider.")
  const finished = await finishSignIn(provider, answer)
  const { principalId } = await callWith(finished.tokens.accessToken, "readMe", {})
  return { ...finished, principalId }
}
