/** The tokens of the provider in use: the access token is renewed before it expires, the refresh token is in memory only. */

import { signOutAddress } from "@/api/oidc/login"
import { endpoints, ProviderRefused, requestTokens, revoke, type ProviderTokens } from "@/api/oidc/provider"
import { Problem } from "@/api/problem"
import { endSession, providerTokenExpiresAt, renewSession, startSession, token } from "@/api/session"
import { runtimeConfig } from "@/config/runtime"

/** So long before its end a token is renewed: longer than a request is on its way. */
const EARLY_MILLISECONDS = 30_000

let refreshToken: string | undefined
let renewal: Promise<void> | undefined

export function startProviderSession(tokens: ProviderTokens): void {
  refreshToken = tokens.refreshToken
  startSession(tokens.accessToken, tokens.expiresAt)
}

/** The token for a request that begins now; a token of the platform itself is never renewed. */
export async function currentToken(): Promise<string | undefined> {
  const expiresAt = providerTokenExpiresAt()
  if (expiresAt === undefined) return token()
  if (Date.now() >= expiresAt - EARLY_MILLISECONDS && refreshToken !== undefined) {
    renewal ??= renew(refreshToken).finally(() => (renewal = undefined)) // one at a time: a refresh token works once
    await renewal
  }
  if (Date.now() >= (providerTokenExpiresAt() ?? 0)) {
    endSession("expired")
    throw new Problem({ message: "Your session has ended. Sign in again." })
  }
  return token()
}

/** A failure keeps the present token for as long as it lives. */
async function renew(present: string): Promise<void> {
  const { provider } = runtimeConfig()
  if (provider === undefined) return
  try {
    const form = { grant_type: "refresh_token", client_id: provider.clientId, refresh_token: present }
    const tokens = await requestTokens((await endpoints(provider)).token, form)
    if (providerTokenExpiresAt() === undefined) return // signed out while the answer was on its way
    refreshToken = tokens.refreshToken ?? present
    renewSession(tokens.accessToken, tokens.expiresAt)
  } catch (failure) {
    if (failure instanceof ProviderRefused) refreshToken = undefined
  }
}

/** Ends the session here and gives the address where the provider ends its own, if it has one. */
export async function endProviderSession(): Promise<string | undefined> {
  const { provider } = runtimeConfig()
  const refresh = refreshToken
  refreshToken = undefined
  endSession()
  if (provider === undefined) return undefined
  const { revocation, endSession: address } = await endpoints(provider)
  if (revocation !== undefined && refresh !== undefined) await revoke(revocation, provider.clientId, refresh)
  return address === undefined ? undefined : signOutAddress(address, provider.clientId)
}
