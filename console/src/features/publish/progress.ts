/** The progress of a publication, from the server's state alone, so that anybody can continue at any time. */

import type { CatalogEntry, EndpointBinding, Release } from "@/api/contract.gen"

export type StepName = "card" | "binding" | "proof" | "release" | "publish"
export type StepState = "done" | "current" | "waiting"

export interface Facts {
  readonly entry?: CatalogEntry
  /** Bindings of this version, newest first. */
  readonly bindings: ReadonlyArray<EndpointBinding>
  readonly release?: Release
}

export interface Progress {
  readonly steps: Readonly<Record<StepName, StepState>>
  /** The Binding that counts: the Release's own, else a verified one, else the newest. */
  readonly binding?: EndpointBinding
  /** Why this version can never be published any more. */
  readonly ended?: "disabled" | "suspended" | "revoked"
}

const ORDER: ReadonlyArray<StepName> = ["card", "binding", "proof", "release", "publish"]

export function progressOf({ entry, bindings, release }: Facts): Progress {
  const binding =
    bindings.find(({ bindingId }) => bindingId === release?.endpointBindingId) ??
    bindings.find(({ verificationStatus }) => verificationStatus === "verified") ??
    bindings[0]
  const done: Readonly<Record<StepName, boolean>> = {
    card: entry !== undefined,
    binding: binding !== undefined || release !== undefined,
    proof: binding?.verificationStatus === "verified" || isPast(release, "verified"),
    release: isPast(release, "verified"),
    publish: isPast(release, "published"),
  }
  const current = ORDER.find((name) => !done[name])
  const steps = Object.fromEntries(
    ORDER.map((name) => [name, done[name] ? "done" : name === current ? "current" : "waiting"]),
  ) as Record<StepName, StepState>
  return { steps, binding, ended: endOf(entry, release) }
}

function endOf(entry: CatalogEntry | undefined, release: Release | undefined): Progress["ended"] {
  if (release?.state === "revoked" || release?.state === "suspended") return release.state
  return entry?.publicationStatus === "disabled" ? "disabled" : undefined
}

/** Whether the Release has been in that state; suspended and revoked ones may never have been published. */
function isPast(release: Release | undefined, state: "verified" | "published"): boolean {
  if (release === undefined) return false
  return state === "published" ? release.publishedAt !== undefined : release.verifiedAt !== undefined
}
