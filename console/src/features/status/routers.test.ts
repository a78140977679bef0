import { describe, expect, it } from "vitest"

import type { HealthRouter } from "@/api/contract.gen"
import { concernsOf, factsToWrite } from "@/features/status/routers"

const NOW = Date.parse("2026-03-02T10:00:00Z")

const well: HealthRouter = {
  status: "ok",
  instanceId: "5f0c9be1a27d4e63",
  topology: { state: "live", since: "2026-03-02T09:00:00.000000Z", ageMs: 1800 },
  schemaWork: { processes: 2, running: 2, waiting: 0 },
  facts: { unconfirmed: 0, deferred: 0, denied: 0 },
  sequence: { lagMs: 412 },
}

const said = (router: HealthRouter) => concernsOf(router, NOW).map(({ tone, says }) => `${tone}: ${says}`)

describe("what is wrong with a Router", () => {
  it("is nothing while all is as usual, whoever numbers the events", () => {
    expect(said(well)).toEqual([])
    expect(said({ ...well, sequence: undefined })).toEqual([])
  })

  it("is that it does not answer, and then nothing else is known", () => {
    expect(said({ status: "unavailable" })).toEqual([
      expect.stringMatching(/^bad: It gives no usable answer/),
    ])
  })

  it("is a watch that is lost, with the time since when", () => {
    const topology = { state: "lost", since: "2026-03-02T09:56:00.000000Z", ageMs: 240_000 } as const
    const [first, ...others] = said({ ...well, status: "not_ready", topology })
    expect(first).toMatch(/^bad: The topology watch is lost since .+ \(4 min\. ago\)\./)
    expect(others).toEqual([])
  })

  it("is every kind of fact that waits, with the age of the oldest once", () => {
    const facts = { unconfirmed: 1, deferred: 12, denied: 2, oldestMs: 41_300 }
    const sentences = said({ ...well, status: "not_ready", facts })
    expect(sentences).toHaveLength(3)
    expect(sentences[0]).toMatch(/12 Invocations have ended.*41\.3 s/)
    expect(sentences[1]).toMatch(/1 accepted call/)
    expect(sentences[1]).not.toMatch(/41\.3/)
    expect(sentences[2]).toMatch(/end of 2 Invocations.*restarts/)
  })

  it("is work that waits and numbers that are late, which keep no Router from being ready", () => {
    const router = {
      ...well,
      schemaWork: { processes: 2, running: 2, waiting: 7 },
      sequence: { lagMs: 64_000 },
    }
    expect(said(router)).toEqual([
      expect.stringMatching(/^warn: 7 checks wait for one of 2 processes/),
      expect.stringMatching(/^warn: The numbering of events is 1 min 4 s behind/),
    ])
  })

  it("is named even where the Router does not say why it is not ready", () => {
    expect(said({ ...well, status: "not_ready" })).toEqual([expect.stringMatching(/aop_ready/)])
  })
})

describe("what is said of facts to write", () => {
  const none = { unconfirmed: 0, deferred: 0, denied: 0 }

  it("is that the Ledger has all of them only when it has", () => {
    expect(factsToWrite(none)).toEqual([0, "the Ledger has all"])
    expect(factsToWrite({ ...none, denied: 2 })).toEqual([2, "refused by the Ledger"])
    expect(factsToWrite({ ...none, deferred: 1 })).toEqual([1, "not written yet"])
    expect(factsToWrite({ ...none, deferred: 1, denied: 1, oldestMs: 3000 })[1]).toMatch(/^oldest waits for/)
  })
})
