import { expect, it } from "vitest"

import { digestCommand } from "@/features/agent/digestCommand"

it("names the version in the address and no token but the variable's name", () => {
  expect(digestCommand("http://127.0.0.1:8080", "aop:a", "1.0.0+b")).toBe(
    'curl -sS -H "Authorization: Bearer $AOP_TOKEN" http://127.0.0.1:8080/v1/agents/aop%3Aa/versions/1.0.0%2Bb | sha256sum',
  )
})
