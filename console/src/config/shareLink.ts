/** Share links: the one canonical text of each, and whether the page was opened by one. */

const PATH = "/a/"
const PUBLIC_AGENT_ID = /^agt_[0-9a-f]{32}$/

let opened: string | undefined

/** Called once, before the router can tidy the address up. */
export function noteOpenedAddress(): void {
  opened = location.href
}

export function openedAddress(): string | undefined {
  return opened
}

/** The public Agent id of a share link; undefined unless it is byte for byte origin + `/a/` + id. */
export function publicAgentIdOf(text: string, origin: string): string | undefined {
  if (!text.startsWith(origin + PATH)) return undefined
  const id = text.slice((origin + PATH).length)
  return PUBLIC_AGENT_ID.test(id) ? id : undefined
}
