/** What a sign-in brought in the address: taken out before the first request, kept in memory, used once. */

/** `#code=…` of a sign-in link, or the answer of the sign-in provider. */
export type Arrival =
  | { readonly kind: "link"; readonly code: string | undefined }
  | { readonly kind: "provider"; readonly answer: URLSearchParams }

const CODE = /^#code=([\w-]{1,128})$/
const SIGN_IN = "/sign-in"

let arrived: Arrival | undefined

export function arrival(): Arrival | undefined {
  return arrived
}

export function forgetArrival(): void {
  arrived = undefined
}

/** First thing of all; a link that is opened over an address of its own path loads the page again, to come here. */
export function takeFromAddress(): void {
  addEventListener("hashchange", () => {
    if (location.hash.startsWith("#code=")) location.reload()
  })
  const { pathname, search, hash } = location
  const found = arrivalIn(pathname, search, hash)
  if (found === undefined) return
  arrived = found
  const next =
    pathname === SIGN_IN || pathname === "/" ? "" : `?next=${encodeURIComponent(pathname + search)}`
  history.replaceState(null, "", SIGN_IN + (found.kind === "link" ? next : ""))
}

/** A link is unusable when its code is cut; an answer of the provider always has a state. */
export function arrivalIn(pathname: string, search: string, hash: string): Arrival | undefined {
  const answer = new URLSearchParams(search)
  if (pathname === SIGN_IN && answer.has("state") && (answer.has("code") || answer.has("error")))
    return { kind: "provider", answer }
  if (hash.startsWith("#code=")) return { kind: "link", code: CODE.exec(hash)?.[1] }
  return undefined
}
