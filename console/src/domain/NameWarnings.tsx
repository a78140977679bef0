/** The exact identity of an Agent, and warnings about its names: shown where somebody decides to trust it. */

import { TriangleAlert } from "lucide-react"

import type { AgentOverviewResemblance as Resemblance } from "@/api/contract.gen"
import { mixesScripts } from "@/components/text/hidden"

export interface Named {
  readonly name: string
  readonly owner: { readonly id: string; readonly displayName: string }
}

/** A list does not say the name of an owner. */
type MaybeOwned = Pick<Named, "name"> & Partial<Named>

interface NameWarningsProps {
  readonly agent: MaybeOwned
  /** What the Control Plane found; absent when it found nothing. */
  readonly resembles: ReadonlyArray<Resemblance> | undefined
}

export function NameWarnings({ agent, resembles = [] }: NameWarningsProps) {
  const mixed = mixedNames(agent)
  if (resembles.length === 0 && mixed.length === 0) return null
  return (
    <section
      aria-label="Warnings about the name"
      className="flex gap-3 rounded-lg border border-warn/40 bg-warn-soft p-3 text-sm"
    >
      <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-warn" />
      <ul className="min-w-0 space-y-1">
        {resembles.map((one) => (
          <li key={`${one.part} ${one.text}`}>
            <Resembling one={one} />
          </li>
        ))}
        {mixed.map(({ what, text }) => (
          <li key={what}>
            {what}, <bdi>{text}</bdi>, mixes letters of scripts that look alike.
          </li>
        ))}
      </ul>
    </section>
  )
}

/** For a list: whether there is anything to warn of. */
export function mayImitate(agent: MaybeOwned, resembles: ReadonlyArray<Resemblance> = []): boolean {
  return resembles.length > 0 || mixedNames(agent).length > 0
}

function mixedNames({ name, owner }: MaybeOwned) {
  return [
    { what: "Its name", text: name },
    { what: "The name of its owner", text: owner?.displayName ?? "" },
  ].filter(({ text }) => mixesScripts(text))
}

function Resembling({ one }: { readonly one: Resemblance }) {
  const owner = <span className="id-text">{one.ownerId}</span>
  if (one.part === "name") {
    return (
      <>
        <bdi>{one.text}</bdi> looks like <span className="id-text">{one.agentId}</span> of {owner}, which was
        published before it.
      </>
    )
  }
  return (
    <>
      The prefix <span className="id-text">{one.text}</span>{" "}
      {one.agentId === undefined ? "is the provider id of" : "was used first by"} {owner}, who does not own
      this Agent.
    </>
  )
}
