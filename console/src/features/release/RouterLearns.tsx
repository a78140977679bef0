/** After the end of a Release: how long it took until the Router reports the new state. */

import { useQuery } from "@tanstack/react-query"
import { CircleCheck, TriangleAlert } from "lucide-react"
import { useState } from "react"

import type { Release } from "@/api/contract.gen"
import { call } from "@/api/http"
import { Problem } from "@/api/problem"
import { duration } from "@/components/format"
import { Spinner } from "@/components/Spinner"

const PAUSE_MILLISECONDS = 200
/** After so long, the operator has to look. */
const WAIT_MILLISECONDS = 30_000

interface RouterLearnsProps {
  readonly release: Release
  /** When the Gateway's answer was here. */
  readonly answeredAt: number
}

export function RouterLearns({ release, answeredAt }: RouterLearnsProps) {
  const [waitUntil] = useState(answeredAt + WAIT_MILLISECONDS)
  const learned = useQuery({
    queryKey: ["router-learns", release.releaseId, release.state],
    queryFn: ({ signal }) => sinceAnswer(release, answeredAt, signal),
    staleTime: Infinity,
    gcTime: 0,
    refetchInterval: ({ state }) =>
      typeof state.data === "number" || Date.now() > waitUntil ? false : PAUSE_MILLISECONDS,
  })
  if (typeof learned.data === "number") {
    return (
      <p role="status" className="flex gap-2">
        <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-ok" />
        The Router reports the new state. It took {duration(learned.data)} from the answer.
      </p>
    )
  }
  if (
    learned.isError ||
    (learned.data === null && learned.fetchStatus === "idle" && learned.dataUpdatedAt > waitUntil)
  ) {
    return (
      <p role="status" className="flex gap-2">
        <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-warn" />
        The Router has not reported the new state within {duration(WAIT_MILLISECONDS)}. The Control Plane
        refuses new calls already. Look at the page Status.
      </p>
    )
  }
  return (
    <p role="status" className="flex items-center gap-2 text-muted">
      <Spinner /> Waiting until the Router reports the new state.
    </p>
  )
}

/** Milliseconds; null while the Router does not report it, or cannot be asked. */
async function sinceAnswer(
  release: Release,
  answeredAt: number,
  signal: AbortSignal,
): Promise<number | null> {
  try {
    const seen = await call("readReleaseObservation", { path: { releaseId: release.releaseId } }, signal)
    return seen.source === "live" && seen.state === release.state ? Date.now() - answeredAt : null
  } catch (failure) {
    if (failure instanceof Problem && isPassing(failure)) return null
    throw failure
  }
}

function isPassing({ code }: Problem): boolean {
  return code === undefined || code === "DEPENDENCY_ERROR" || code === "OVERLOADED"
}
