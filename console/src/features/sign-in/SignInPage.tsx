/** Signing in: with the link of `aop up` or `aop open`, at the OpenID provider, or with an access token. */

import { getRouteApi, useNavigate } from "@tanstack/react-router"
import { useEffect, useState } from "react"

import { arrival, forgetArrival } from "@/api/arrival"
import { useSignedIn } from "@/api/useSignedIn"
import { LinkSignIn } from "@/features/sign-in/LinkSignIn"
import { ProviderAnswer } from "@/features/sign-in/ProviderAnswer"
import { SignInForms } from "@/features/sign-in/SignInForms"
import { SignInFrame } from "@/features/sign-in/SignInFrame"

const route = getRouteApi("/sign-in")

export function SignInPage() {
  const { next = "/discover" } = route.useSearch()
  const [arrived, setArrived] = useState(arrival)
  const navigate = useNavigate()
  const signedIn = useSignedIn()
  useEffect(() => {
    document.title = "Sign in · Agent Operating Platform"
  }, [])
  const [target, setTarget] = useState(next)
  useEffect(() => {
    if (signedIn && arrived === undefined) void navigate({ href: target, replace: true })
  }, [signedIn, arrived, navigate, target])
  const again = () => {
    forgetArrival()
    setArrived(undefined)
  }
  const finish = (to: string) => {
    setTarget(to)
    again()
  }
  if (arrived?.kind === "link") return <LinkSignIn code={arrived.code} onDone={again} onAgain={again} />
  if (arrived?.kind === "provider")
    return <ProviderAnswer answer={arrived.answer} onDone={finish} onAgain={again} />
  return (
    <SignInFrame title="Sign in to the Agent Platform">
      <SignInForms next={next} />
    </SignInFrame>
  )
}
