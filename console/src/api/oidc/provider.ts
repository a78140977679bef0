/** The OpenID provider: its discovery document and its token endpoint, asked on the issuer's own origin only. */

import { isObject } from "@/api/problem"
import type { SignInProvider } from "@/config/runtime"

/** The provider cannot be used, with the reason as a sentence. */
export class ProviderUnusable extends Error {}

/** The provider refused a request at its token endpoint. */
export class ProviderRefused extends Error {}

export interface Endpoints {
  readonly authorization: string
  readonly token: string
  readonly endSession?: string
  /** Present where a client without a secret may revoke. */
  readonly revocation?: string
}

export interface ProviderTokens {
  readonly accessToken: string
  readonly expiresAt: number
  readonly refreshToken?: string
  readonly idToken?: string
}

let known: Promise<Endpoints> | undefined

export function endpoints(provider: SignInProvider): Promise<Endpoints> {
  known ??= discover(provider).catch((failure: unknown) => {
    known = undefined // the next press of the button asks again
    throw failure
  })
  return known
}

async function discover({ issuer }: SignInProvider): Promise<Endpoints> {
  const response = await asked(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`, {})
  if (!response.ok) throw new ProviderUnusable("The sign-in provider has no discovery document.")
  return endpointsIn(await jsonOf(response), issuer)
}

export function endpointsIn(document: unknown, issuer: string): Endpoints {
  if (!isObject(document) || document["issuer"] !== issuer)
    throw new ProviderUnusable("The discovery document is not one of the configured sign-in provider.")
  const authorization = urlOf(document["authorization_endpoint"])
  const token = urlOf(document["token_endpoint"])
  if (authorization === undefined || token === undefined)
    throw new ProviderUnusable("The sign-in provider names no endpoints for a sign-in.")
  // The policy of this page allows requests to the issuer's origin and to no other one.
  if (new URL(token).origin !== new URL(issuer).origin)
    throw new ProviderUnusable("The token endpoint of the sign-in provider is not on the issuer's origin.")
  const revocation = urlOf(document["revocation_endpoint"])
  return {
    authorization,
    token,
    endSession: urlOf(document["end_session_endpoint"]),
    revocation: names(document["revocation_endpoint_auth_methods_supported"], "none")
      ? revocation
      : undefined,
  }
}

/** Asks the token endpoint for tokens; the form has no secret, because this is a public client. */
export async function requestTokens(
  endpoint: string,
  form: Readonly<Record<string, string>>,
): Promise<ProviderTokens> {
  const response = await asked(endpoint, { method: "POST", body: new URLSearchParams(form) })
  if (!response.ok) throw new ProviderRefused("The sign-in provider refused. Sign in again.")
  return tokensIn(await jsonOf(response), Date.now())
}

export function tokensIn(answer: unknown, now: number): ProviderTokens {
  const { access_token, expires_in, refresh_token, id_token, token_type } = isObject(answer) ? answer : {}
  if (
    typeof access_token !== "string" ||
    typeof token_type !== "string" ||
    token_type.toLowerCase() !== "bearer"
  )
    throw new ProviderUnusable("The sign-in provider gave no access token.")
  if (typeof expires_in !== "number")
    throw new ProviderUnusable("The sign-in provider does not say when its access token expires.")
  return {
    accessToken: access_token,
    expiresAt: now + expires_in * 1000,
    refreshToken: typeof refresh_token === "string" ? refresh_token : undefined,
    idToken: typeof id_token === "string" ? id_token : undefined,
  }
}

/** Tells the provider that a refresh token is no longer used; a failure changes nothing for the person. */
export async function revoke(endpoint: string, clientId: string, refreshToken: string): Promise<void> {
  const form = { client_id: clientId, token: refreshToken, token_type_hint: "refresh_token" }
  await asked(endpoint, { method: "POST", body: new URLSearchParams(form) }).catch(() => undefined)
}

async function asked(url: string, request: RequestInit): Promise<Response> {
  const careful: RequestInit = {
    cache: "no-store",
    credentials: "omit",
    redirect: "error",
    referrerPolicy: "no-referrer",
    signal: AbortSignal.timeout(15_000),
  }
  try {
    return await fetch(url, { ...request, ...careful, headers: { Accept: "application/json" } })
  } catch {
    throw new ProviderUnusable("The sign-in provider could not be reached from this browser.")
  }
}

async function jsonOf(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch {
    throw new ProviderUnusable("The answer of the sign-in provider could not be read.")
  }
}

function urlOf(value: unknown): string | undefined {
  return typeof value === "string" && /^https?:\/\//.test(value) && URL.canParse(value) ? value : undefined
}

function names(list: unknown, name: string): boolean {
  return Array.isArray(list) && list.includes(name)
}
