/** Where this deployment's Gateway, door and share links are: read once from the page, refused visibly when unusable. */

export interface RuntimeConfig {
  /** Origin of the Gateway. */
  readonly apiBaseUrl: string
  /** Exact origin of share links. */
  readonly publicAgentOrigin: string
  /** Origin of the door for A2A clients and MCP hosts; absent where there is none. */
  readonly doorOrigin?: string
}

const DOOR = "VITE_PLATFORM_DOOR_ORIGIN"

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
  }
}

/** Vite leaves the place as it is where the setting is not set. */
function door(text: string): string | undefined {
  return text === "" || text === `%${DOOR}%` ? undefined : exactOrigin(DOOR, text)
}

let config: RuntimeConfig | undefined

export function runtimeConfig(): RuntimeConfig {
  config ??= readConfig(
    (name) => document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? "",
  )
  return config
}
