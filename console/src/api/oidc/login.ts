/** A sign-in at the OpenID provider: authorization code with PKCE, bound to this tab by its state. */

import { challengeOf, randomText } from "@/api/oidc/pkce"
import { endpoints, ProviderUnusable, requestTokens, type ProviderTokens } from "@/api/oidc/provider"
import { isObject } from "@/api/problem"
import type { SignInProvider } from "@/config/runtime"

/** What this tab must know when the provider sends the person back; of no use without the provider's code. */
interface Begun {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  readonly next: string
}

const BEGUN = "aop.sign-in"

/** Leaves the Console for the provider's own page. */
export async function beginSignIn(provider: SignInProvider, next: string): Promise<void> {
  if (!isSecureContext)
    throw new ProviderUnusable("This sign-in needs https: the Console was opened over plain http.")
  const { authorization } = await endpoints(provider)
  const begun: Begun = { state: randomText(), nonce: randomText(), verifier: randomText(), next }
  const url = new URL(authorization)
  const query = {
    response_type: "code",
    client_id: provider.clientId,
    redirect_uri: redirectUri(),
    scope: provider.scope,
    state: begun.state,
    nonce: begun.nonce,
    code_challenge: await challengeOf(begun.verifier),
    code_challenge_method: "S256",
  }
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  sessionStorage.setItem(BEGUN, JSON.stringify(begun))
  location.assign(url)
}

export interface FinishedSignIn {
  readonly tokens: ProviderTokens
  readonly next: string
}

/** Uses the provider's answer once; one that this tab did not ask for is refused. */
export async function finishSignIn(
  provider: SignInProvider,
  answer: URLSearchParams,
): Promise<FinishedSignIn> {
  const begun = takeBegun()
  const code = codeIn(answer, begun, provider.issuer)
  const { token } = await endpoints(provider)
  const tokens = await requestTokens(token, {
    grant_type: "authorization_code",
    client_id: provider.clientId,
    redirect_uri: redirectUri(),
    code,
    code_verifier: begun?.verifier ?? "",
  })
  if (tokens.idToken !== undefined && claimOf(tokens.idToken, "nonce") !== begun?.nonce)
    throw new ProviderUnusable("The answer belongs to another sign-in. Sign in again.")
  return { tokens, next: begun?.next ?? "/discover" }
}

/** The code of an answer to what this tab began. */
export function codeIn(
  answer: URLSearchParams,
  begun: { state: string } | undefined,
  issuer: string,
): string {
  if (begun === undefined || answer.get("state") !== begun.state)
    throw new ProviderUnusable("This tab did not begin this sign-in, so it was not finished. Sign in again.")
  const from = answer.get("iss")
  if (from !== null && from !== issuer)
    throw new ProviderUnusable("The answer comes from another sign-in provider.")
  const code = answer.get("code")
  if (code === null) throw new ProviderUnusable("The sign-in provider did not sign you in.")
  return code
}

/** Where the provider's own session ends. No token is in it: the provider asks the person instead. */
export function signOutAddress(endSession: string, clientId: string): string {
  const url = new URL(endSession)
  url.searchParams.set("client_id", clientId)
  url.searchParams.set("post_logout_redirect_uri", redirectUri())
  return url.href
}

function redirectUri(): string {
  return `${location.origin}/sign-in`
}

function takeBegun(): Begun | undefined {
  const text = sessionStorage.getItem(BEGUN)
  sessionStorage.removeItem(BEGUN)
  return text === null ? undefined : (JSON.parse(text) as Begun)
}

/** A claim of a token that came from the provider itself, over its own connection. */
function claimOf(token: string, name: string): unknown {
  try {
    const text = (token.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/")
    const claims: unknown = JSON.parse(atob(text))
    return isObject(claims) ? claims[name] : undefined
  } catch {
    return undefined
  }
}
