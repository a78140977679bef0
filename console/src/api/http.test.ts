import { describe, expect, it } from "vitest"

import { address } from "@/api/http"

describe("the address of a call", () => {
  it("has each path parameter as one encoded segment", () => {
    expect(
      address("/v1/agents/{agentId}/versions/{version}", {
        path: { agentId: "a:b/../c", version: "1.0.0+x" },
      }),
    ).toBe("/v1/agents/a%3Ab%2F..%2Fc/versions/1.0.0%2Bx")
  })

  it("leaves absent query parameters out", () => {
    expect(address("/v1/agents", { query: { query: "a & b", latest: true, capability: undefined } })).toBe(
      "/v1/agents?query=a+%26+b&latest=true",
    )
  })

  it("is never made with a path parameter missing", () => {
    expect(() => address("/v1/agents/{agentId}", { path: {} })).toThrow()
  })
})
