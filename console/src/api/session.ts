/** The session of this tab: its token is in sessionStorage and in requests to the Gateway, nowhere else. */

const TOKEN = "aop.token"
const EXPIRES = "aop.token-expires"

/** Why the last session ended, when it was not simply signed out. */
export type Ended = "rejected" | "expired" | "not-revoked"

type Listener = () => void
const listeners = new Set<Listener>()
let ended: Ended | undefined

export function token(): string | undefined {
  return sessionStorage.getItem(TOKEN) ?? undefined
}

/** When the token of the sign-in provider expires; undefined when the session is one of the platform's own. */
export function providerTokenExpiresAt(): number | undefined {
  const text = sessionStorage.getItem(EXPIRES)
  return text === null ? undefined : Number(text)
}

export function startSession(value: string, providerExpiresAt?: number): void {
  ended = undefined
  keep(value, providerExpiresAt)
  listeners.forEach((tell) => tell())
}

/** The same session goes on with a newer token of the provider. */
export function renewSession(value: string, providerExpiresAt: number): void {
  keep(value, providerExpiresAt)
}

export function endSession(reason?: Ended): void {
  ended = reason
  sessionStorage.removeItem(TOKEN)
  sessionStorage.removeItem(EXPIRES)
  listeners.forEach((tell) => tell())
}

/** The Gateway no longer takes the token: signed out, and the sign-in page says why. */
export function dropRejected(value: string): void {
  if (token() === value) endSession("rejected") // not if another one was chosen while the answer was on its way
}

export function lastEnd(): Ended | undefined {
  return ended
}

export function onSessionChange(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function keep(value: string, providerExpiresAt: number | undefined): void {
  sessionStorage.setItem(TOKEN, value)
  if (providerExpiresAt === undefined) sessionStorage.removeItem(EXPIRES)
  else sessionStorage.setItem(EXPIRES, String(providerExpiresAt))
}
