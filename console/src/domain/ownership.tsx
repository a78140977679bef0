/** Whether this account owns a Workspace, and what is said where only its owner may act. */

import { useQuery } from "@tanstack/react-query"
import { Info } from "lucide-react"
import type { ReactNode } from "react"

import { me } from "@/api/queries"

/** Undefined until the account is known; then nothing of the owner's is offered either. */
export function useIsOwner(ownerId: string): boolean | undefined {
  const account = useQuery(me())
  return account.data === undefined ? undefined : account.data.principalId === ownerId
}

export function CallerNotice({
  ownerId,
  children,
}: {
  readonly ownerId: string
  readonly children: ReactNode
}) {
  return (
    <div role="note" className="mb-4 flex gap-2.5 rounded-md bg-sunken px-3 py-2 text-sm">
      <Info aria-hidden className="mt-0.5 size-4 shrink-0 text-muted" />
      <p className="min-w-0">
        You are a caller of this Workspace. {children} Ask its owner,{" "}
        <span className="id-text">{ownerId}</span>.
      </p>
    </div>
  )
}
