/** Begins and ends sessions: every tab gets a session of its own, and signing out revokes it. */

import type { Answer } from "@/api/http"
import { call, callWith } from "@/api/http"
import { endProviderSession } from "@/api/oidc/current"
import { Problem } from "@/api/problem"
import { endSession, providerTokenExpiresAt } from "@/api/session"

export type NewSession = Answer<"signIn">

let redemption: { readonly code: string; readonly session: Promise<NewSession> } | undefined

/** Redeems the code of a sign-in link; asked again for the same code, it gives the same session. */
export function redeem(code: string): Promise<NewSession> {
  if (redemption?.code !== code) redemption = { code, session: call("signIn", { body: { code } }) }
  return redemption.session
}

/** A session for the owner of a token, which itself is not kept: signing out must not revoke a token of other use. */
export async function sessionOf(pasted: string): Promise<NewSession> {
  const { code } = await callWith(pasted, "createSignInCode", {})
  return call("signIn", { body: { code } })
}

/** Revokes a session that nobody is going to use, or that another one replaces. */
export async function discard(token: string): Promise<void> {
  await callWith(token, "revokePresentedToken", {})
}

/** Signs out and revokes; where the provider has a session of its own, leaves for the page that ends it. */
export async function signOut(): Promise<void> {
  if (providerTokenExpiresAt() !== undefined) {
    const address = await endProviderSession().catch(() => undefined)
    if (address !== undefined) location.assign(address)
    return
  }
  try {
    await call("revokePresentedToken", {})
    endSession()
  } catch (failure) {
    if (!(failure instanceof Problem)) throw failure
    endSession(failure.code === "UNAUTHENTICATED" ? undefined : "not-revoked")
  }
}
