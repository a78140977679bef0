import { describe, expect, it } from "vitest"

import { ConfigurationUnusable, readConfig } from "@/config/runtime"

const configured = (api: string, origin = "https://console.example", door = "") => {
  const page: Record<string, string> = {
    "platform-api-base-url": api,
    "platform-public-agent-origin": origin,
    "platform-door-origin": door,
  }
  return readConfig((name) => page[name] ?? "")
}

describe("the configuration", () => {
  it("is two exact origins", () => {
    expect(configured("http://127.0.0.1:8080")).toEqual({
      apiBaseUrl: "http://127.0.0.1:8080",
      publicAgentOrigin: "https://console.example",
    })
  })

  it("names a door where there is one", () => {
    const door = (text: string) => configured("http://a.example", "http://b.example", text).doorOrigin
    expect(door("https://door.example")).toBe("https://door.example")
    expect([door(""), door("%VITE_PLATFORM_DOOR_ORIGIN%")]).toEqual([undefined, undefined])
    expect(() => door("https://door.example/mcp")).toThrow(ConfigurationUnusable)
  })

  it.each([
    "",
    "%VITE_PLATFORM_API_BASE_URL%",
    "http://a.example/",
    "http://A.example",
    "http://a.example:80",
    "ftp://a.example",
    "a.example",
  ])("with the address %j is refused", (address) => {
    expect(() => configured(address)).toThrow(ConfigurationUnusable)
    expect(() => configured("http://a.example", address)).toThrow(ConfigurationUnusable)
  })
})
