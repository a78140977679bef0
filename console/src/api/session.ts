/** The caller's access token: in this tab's sessionStorage and in requests to the Gateway, nowhere else. */

const KEY = "aop.token"
const FRAGMENT = /^#token=([\x21-\x7e]+)$/

type Listener = () => void
const listeners = new Set<Listener>()
let rejected = false

export function token(): string | undefined {
  return sessionStorage.getItem(KEY) ?? undefined
}

export function signIn(value: string): void {
  rejected = false
  sessionStorage.setItem(KEY, value)
  listeners.forEach((tell) => tell())
}

export function signOut(): void {
  sessionStorage.removeItem(KEY)
  listeners.forEach((tell) => tell())
}

/** The Gateway no longer takes the token: signed out, and the sign-in page says why. */
export function dropRejected(value: string): void {
  if (token() !== value) return // another one was chosen while the answer was on its way
  rejected = true
  signOut()
}

export function wasRejected(): boolean {
  return rejected
}

/** Takes the token of a sign-in link out of the address before anything else can see it. */
export function takeFromFragment(): void {
  const found = FRAGMENT.exec(location.hash)?.[1]
  if (location.hash.startsWith("#token=")) {
    history.replaceState(null, "", location.pathname + location.search)
  }
  if (found !== undefined) signIn(found)
}

export function onSessionChange(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
