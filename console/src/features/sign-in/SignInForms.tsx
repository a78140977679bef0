/** The ways to sign in that begin on this page: at the OpenID provider where there is one, and with a token. */

import { useState } from "react"

import { beginSignIn } from "@/api/oidc/login"
import { Problem } from "@/api/problem"
import { lastEnd, startSession, type Ended } from "@/api/session"
import { sessionOf } from "@/api/signIn"
import { Button } from "@/components/Button"
import { Field, TextInput } from "@/components/Field"
import { ProblemNotice } from "@/components/Problems"
import { runtimeConfig } from "@/config/runtime"

const TOKEN_FORM = /^[\x21-\x7e]+$/

const ENDED: Readonly<Record<Ended, string>> = {
  rejected: "You were signed out because the Gateway no longer accepts your session. Sign in again.",
  expired: "Your session has ended. Sign in again.",
  "not-revoked":
    "You are signed out of this tab, but the session was not revoked because the Gateway did not answer. It ends by itself within 12 hours. To end it now, sign in and revoke it on the page Tokens.",
}

export function SignInForms({ next }: { readonly next: string }) {
  const [problem, setProblem] = useState<unknown>()
  const { provider } = runtimeConfig()
  return (
    <>
      <p className="text-muted">The session is kept in this browser tab only. Signing out revokes it.</p>
      {provider ? <ProviderButton issuer={provider.issuer} next={next} onProblem={setProblem} /> : null}
      <TokenForm onProblem={setProblem} />
      <p className="text-sm text-muted">
        On the machine of the platform, <code className="id-text">aop open</code> makes a sign-in link.
      </p>
      <Trouble problem={problem} />
    </>
  )
}

interface ProviderButtonProps {
  readonly issuer: string
  readonly next: string
  readonly onProblem: (problem: unknown) => void
}

function ProviderButton({ issuer, next, onProblem }: ProviderButtonProps) {
  const [leaving, setLeaving] = useState(false)
  const { provider } = runtimeConfig()
  if (provider === undefined) return null
  const begin = () => {
    setLeaving(true)
    onProblem(undefined)
    beginSignIn(provider, next).catch((failure: unknown) => {
      setLeaving(false)
      onProblem(failure)
    })
  }
  return (
    <div className="space-y-4">
      <Button tone="primary" className="w-full" busy={leaving} onClick={begin}>
        Sign in with {new URL(issuer).host}
      </Button>
      <p className="flex items-center gap-3 text-sm text-muted before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
        or
      </p>
    </div>
  )
}

function TokenForm({ onProblem }: { readonly onProblem: (problem: unknown) => void }) {
  const [checking, setChecking] = useState(false)
  const { provider } = runtimeConfig()
  const submit = async (form: FormData) => {
    const text = form.get("token")
    const value = typeof text === "string" ? text.trim() : ""
    if (!TOKEN_FORM.test(value)) {
      onProblem(new Error("Paste the whole access token. It contains no spaces."))
      return
    }
    setChecking(true)
    onProblem(undefined)
    try {
      startSession((await sessionOf(value)).token)
    } catch (failure) {
      onProblem(failure)
    }
    setChecking(false)
  }
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault()
        void submit(new FormData(event.currentTarget))
      }}
    >
      <Field
        label="Access token"
        hint={
          <>
            Made with <code className="id-text">aop token create</code> or on the page Tokens. The Console
            does not keep it.
          </>
        }
      >
        {(control) => (
          <TextInput
            {...control}
            name="token"
            type="password"
            required
            placeholder="aop_…"
            className="font-mono text-sm"
          />
        )}
      </Field>
      <Button type="submit" tone={provider ? "plain" : "primary"} className="w-full" busy={checking}>
        Sign in with a token
      </Button>
    </form>
  )
}

function Trouble({ problem }: { readonly problem: unknown }) {
  if (problem instanceof Problem && problem.code === "UNAUTHENTICATED") {
    return <ProblemNotice title="This token is not valid" problem={problem} />
  }
  if (problem !== undefined) return <ProblemNotice problem={problem} />
  const ended = lastEnd()
  if (ended === undefined) return null
  return (
    <p role="status" className="rounded-lg bg-warn-soft p-3 text-sm text-warn">
      {ENDED[ended]}
    </p>
  )
}
