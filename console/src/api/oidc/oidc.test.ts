import { describe, expect, it } from "vitest"

import { codeIn } from "@/api/oidc/login"
import { challengeOf, randomText } from "@/api/oidc/pkce"
import { endpointsIn, ProviderUnusable, tokensIn } from "@/api/oidc/provider"

const ISSUER = "https://id.example/realm"
const DOCUMENT = {
  issuer: ISSUER,
  authorization_endpoint: "https://login.example/authorize",
  token_endpoint: "https://id.example/token",
}

describe("PKCE", () => {
  it("has the challenge of RFC 7636, appendix B", async () => {
    expect(await challengeOf("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")).toBe(
      "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    )
  })

  it("has a new verifier of 43 characters each time", () => {
    expect(randomText()).toMatch(/^[\w-]{43}$/)
    expect(randomText()).not.toBe(randomText())
  })
})

describe("the discovery document", () => {
  it("names the endpoints; revocation only where it needs no secret", () => {
    expect(endpointsIn(DOCUMENT, ISSUER)).toMatchObject({
      authorization: "https://login.example/authorize",
      token: "https://id.example/token",
    })
    const more = {
      ...DOCUMENT,
      revocation_endpoint: "https://id.example/revoke",
    }
    expect(endpointsIn(more, ISSUER).revocation).toBeUndefined()
    const open = { ...more, revocation_endpoint_auth_methods_supported: ["none"] }
    expect(endpointsIn(open, ISSUER).revocation).toBe("https://id.example/revoke")
  })

  it.each([
    null,
    { ...DOCUMENT, issuer: "https://id.example/other" },
    { ...DOCUMENT, token_endpoint: "https://other.example/token" },
    { ...DOCUMENT, token_endpoint: undefined },
    { ...DOCUMENT, authorization_endpoint: "javascript:alert(1)" },
  ])("%j is refused", (document) => {
    expect(() => endpointsIn(document, ISSUER)).toThrow(ProviderUnusable)
  })
})

describe("the provider's answer", () => {
  const answer = (text: string) => codeIn(new URLSearchParams(text), { state: "mine" }, ISSUER)

  it("gives its code only with the state of this tab and from the issuer", () => {
    expect(answer("code=c&state=mine")).toBe("c")
    expect(answer(`code=c&state=mine&iss=${encodeURIComponent(ISSUER)}`)).toBe("c")
    for (const text of [
      "code=c&state=other",
      "code=c&state=mine&iss=https://evil.example",
      "error=no&state=mine",
    ])
      expect(() => answer(text)).toThrow(ProviderUnusable)
    expect(() => codeIn(new URLSearchParams("code=c&state=mine"), undefined, ISSUER)).toThrow(
      ProviderUnusable,
    )
  })

  it("is a bearer token with a time", () => {
    const good = { access_token: "a", token_type: "bearer", expires_in: 60 }
    expect(tokensIn(good, 1000)).toMatchObject({ accessToken: "a", expiresAt: 61_000 })
    for (const bad of [undefined, {}, { ...good, token_type: "mac" }, { ...good, expires_in: undefined }])
      expect(() => tokensIn(bad, 0)).toThrow(ProviderUnusable)
  })
})
