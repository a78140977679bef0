/** Signing in with an access token: pasted here, or brought by the link that `aop up` prints. */

import { getRouteApi, useNavigate } from "@tanstack/react-router"
import { useEffect, useState } from "react"

import { call } from "@/api/http"
import { Problem } from "@/api/problem"
import { signIn, signOut, wasRejected } from "@/api/session"
import { useSignedIn } from "@/api/useSignedIn"
import { Button } from "@/components/Button"
import { Field, TextInput } from "@/components/Field"
import { ProblemNotice } from "@/components/Problems"

const route = getRouteApi("/sign-in")
const TOKEN_FORM = /^[\x21-\x7e]+$/

export function SignInPage() {
  const { next = "/discover" } = route.useSearch()
  const navigate = useNavigate()
  const signedIn = useSignedIn()
  const [checking, setChecking] = useState(false)
  const [problem, setProblem] = useState<unknown>()
  useEffect(() => {
    document.title = "Sign in · Agent Operating Platform"
  }, [])
  useEffect(() => {
    if (signedIn && !checking) void navigate({ href: next, replace: true })
  }, [signedIn, checking, navigate, next])

  const submit = async (form: FormData) => {
    const text = form.get("token")
    const value = typeof text === "string" ? text.trim() : ""
    if (!TOKEN_FORM.test(value)) {
      setProblem(new Error("Paste the whole access token. It contains no spaces."))
      return
    }
    setChecking(true)
    setProblem(undefined)
    signIn(value)
    try {
      await call("listWorkspaces", { query: { limit: 1 } })
    } catch (failure) {
      signOut()
      setProblem(failure)
    }
    setChecking(false)
  }

  return (
    <main className="flex min-h-dvh items-center justify-center px-4 py-12">
      <div className="w-full max-w-sm">
        <img src="/icon.svg" alt="" width={40} height={40} className="mb-5" />
        <h1 className="text-xl font-semibold tracking-tight">Sign in to the Agent Platform</h1>
        <p className="mt-1 text-muted">
          The Console keeps the token in this browser tab and sends it to the Gateway only. Signing out or
          closing the tab removes it. A sign-in link stays in the history of the browser.
        </p>
        <form
          className="mt-6 space-y-4"
          onSubmit={(event) => {
            event.preventDefault()
            void submit(new FormData(event.currentTarget))
          }}
        >
          <Field
            label="Access token"
            hint={
              <>
                Printed by <code className="id-text">aop up</code>, or made with{" "}
                <code className="id-text">aop token create</code>.
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
          <Button type="submit" tone="primary" className="w-full" busy={checking}>
            Sign in
          </Button>
        </form>
        <div className="mt-5">
          <Trouble problem={problem} />
        </div>
      </div>
    </main>
  )
}

function Trouble({ problem }: { readonly problem: unknown }) {
  if (problem instanceof Problem && problem.code === "UNAUTHENTICATED") {
    return <ProblemNotice title="This token is not valid" problem={problem} />
  }
  if (problem !== undefined) return <ProblemNotice problem={problem} />
  if (!wasRejected()) return null
  return (
    <p role="status" className="rounded-lg bg-warn-soft p-3 text-sm text-warn">
      You were signed out because the Gateway no longer accepts your token. Sign in with a new one.
    </p>
  )
}
