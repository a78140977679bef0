import { describe, expect, it } from "vitest"

import { ConfigurationUnusable, readConfig } from "@/config/runtime"

const configured = (api: string, origin = "https://console.example") =>
  readConfig((name) => (name === "platform-api-base-url" ? api : origin))

describe("the configuration", () => {
  it("is two exact origins", () => {
    expect(configured("http://127.0.0.1:8080")).toEqual({
      apiBaseUrl: "http://127.0.0.1:8080",
      publicAgentOrigin: "https://console.example",
    })
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
