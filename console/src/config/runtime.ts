/** Where this deployment's Gateway, door, sign-in provider and share links are: read once from the page, refused visibly when unusable. */

export interface RuntimeConfig {
  /** Origin of the Gateway. */
  readonly apiBaseUrl: string
  /** Exact origin of share links. */
  readonly publicAgentOrigin: string
  /** Origin of the door for A2A clients and MCP hosts; absent where there is none. */
  readonly doorOrigin?: string
  /** The OpenID provider where people sign in; absent where there is none. */
  readonly provider?: SignInProvider
}

export interface SignInProvider {
  /** Exactly as the provider names itself; it may have a path. */
  readonly issuer: string
  readonly clientId: string
  readonly scope: string
}

const DOOR = "VITE_PLATFORM_DOOR_ORIGIN"
const ISSUER = "VITE_PLATFORM_OIDC_ISSUER"

export class ConfigurationUnusable extends Error {}

/** An origin in the one form that equals what a browser sends; everything else is refused. */
export function exactOrigin(name: string, text: string): string {
  let url: URL
  try {
    url = new URL(text)
  } catch {
    throw new ConfigurationUnusable(`${name} is not an http or https origin.`)
  }
  if (!["http:", "https:"].includes(url.protocol) || url.origin !== text) {
    throw new ConfigurationUnusable(`${name} is not an exact http or https origin.`)
  }
  return text
}

export function readConfig(content: (name: string) => string): RuntimeConfig {
  return {
    apiBaseUrl: exactOrigin("VITE_PLATFORM_API_BASE_URL", content("platform-api-base-url")),
    publicAgentOrigin: exactOrigin(
      "VITE_PLATFORM_PUBLIC_AGENT_ORIGIN",
      content("platform-public-agent-origin"),
    ),
    doorOrigin: door(content("platform-door-origin")),
    provider: provider(content),
  }
}

function door(text: string): string | undefined {
  return isUnset(text) ? undefined : exactOrigin(DOOR, text)
}

function provider(content: (name: string) => string): SignInProvider | undefined {
  const issuer = content("platform-oidc-issuer")
  if (isUnset(issuer)) return undefined
  const clientId = content("platform-oidc-client-id")
  if (!/^https?:\/\/[^?#]+$/.test(issuer) || !URL.canParse(issuer) || isUnset(clientId)) {
    throw new ConfigurationUnusable(`${ISSUER} is not a URL, or the client id is missing.`)
  }
  const scope = content("platform-oidc-scope")
  return { issuer, clientId, scope: isUnset(scope) ? "openid" : scope }
}

/** Vite leaves the place as it is where the setting is not set. */
function isUnset(text: string): boolean {
  return text === "" || /^%VITE_\w+%$/.test(text)
}

let config: RuntimeConfig | undefined

export function runtimeConfig(): RuntimeConfig {
  config ??= readConfig(
    (name) => document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? "",
  )
  return config
}
