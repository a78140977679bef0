/** What is wrong with a Router, in sentences, the worst first. */

import type { HealthRouter } from "@/api/contract.gen"
import type { Tone } from "@/components/Badge"
import { duration, plural, relative, shortDateTime } from "@/components/format"

/** While it numbers in time, the sequencer is less than two seconds behind. */
const USUAL_LAG_MILLISECONDS = 10_000

export interface Concern {
  readonly tone: Extract<Tone, "bad" | "warn">
  readonly says: string
}

export function concernsOf(router: HealthRouter, now: number): ReadonlyArray<Concern> {
  if (router.status === "unavailable") {
    return [bad("It gives no usable answer. It is stopped, cannot be reached, or runs another version.")]
  }
  const concerns = [...ofFacts(router), ...ofTopology(router, now), ...ofWork(router)]
  if (router.status === "not_ready" && concerns.every(({ tone }) => tone !== "bad")) {
    return [
      bad("Its readiness check fails. The metric aop_ready of this Router names the check."),
      ...concerns,
    ]
  }
  return concerns
}

function ofFacts({ facts }: HealthRouter): ReadonlyArray<Concern> {
  if (facts === undefined) return []
  const { deferred, unconfirmed, denied, oldestMs } = facts
  const since = oldestMs === undefined ? "" : ` The oldest has waited for ${duration(oldestMs)}.`
  const found: Concern[] = []
  if (deferred > 0) {
    found.push(
      bad(
        `${plural(deferred, "Invocation has", "Invocations have")} ended, but the end is not written to the Ledger yet. Until then lists show it as running.${since}`,
      ),
    )
  }
  if (unconfirmed > 0) {
    found.push(
      bad(
        `It is not known yet whether the Ledger has ${plural(unconfirmed, "accepted call")}. The Router keeps asking.${deferred > 0 ? "" : since}`,
      ),
    )
  }
  if (denied > 0) {
    found.push(
      bad(
        `The Ledger refused the end of ${plural(denied, "Invocation")}. The operator restarts this Router, which ends them, and runs aop ledger check.`,
      ),
    )
  }
  return found
}

function ofTopology({ topology }: HealthRouter, now: number): ReadonlyArray<Concern> {
  if (topology === undefined || topology.state === "live") return []
  const since = `${shortDateTime(topology.since, now)} (${relative(topology.since, now)})`
  return topology.state === "lost"
    ? [
        bad(
          `The topology watch is lost since ${since}. No change of a Release arrives, so the Router asks the Control Plane at every call.`,
        ),
      ]
    : [warn(`The Router has been reading the list of Releases since ${since}.`)]
}

function ofWork({ schemaWork, sequence }: HealthRouter): ReadonlyArray<Concern> {
  const found: Concern[] = []
  if (schemaWork !== undefined && schemaWork.waiting > 0) {
    found.push(
      warn(
        `${plural(schemaWork.waiting, "check waits", "checks wait")} for one of ${plural(schemaWork.processes, "process", "processes")}. Calls with large or costly values take longer.`,
      ),
    )
  }
  if (sequence !== undefined && sequence.lagMs > USUAL_LAG_MILLISECONDS) {
    found.push(
      warn(
        `The numbering of events is ${duration(sequence.lagMs)} behind. Figures stay exact, but take longer.`,
      ),
    )
  }
  return found
}

function bad(says: string): Concern {
  return { tone: "bad", says }
}

function warn(says: string): Concern {
  return { tone: "warn", says }
}

/** How many there are, and what is said of them: those that were refused wait for nothing. */
export function factsToWrite(
  facts: NonNullable<HealthRouter["facts"]>,
): readonly [count: number, note: string] {
  const { deferred, unconfirmed, denied, oldestMs } = facts
  const waiting = deferred + unconfirmed + denied
  if (oldestMs !== undefined) return [waiting, `oldest waits for ${duration(oldestMs)}`]
  if (denied > 0) return [waiting, "refused by the Ledger"]
  return [waiting, waiting === 0 ? "the Ledger has all" : "not written yet"]
}
