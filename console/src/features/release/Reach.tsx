/** What depends on a Release, in numbers, before its provider ends it. */

import { useQuery } from "@tanstack/react-query"

import type { ReleaseReach } from "@/api/contract.gen"
import { read } from "@/api/queries"
import { count, plural } from "@/components/format"
import { ProblemNotice } from "@/components/Problems"

export function Reach({ releaseId }: { readonly releaseId: string }) {
  const reach = useQuery({ ...read("readReleaseReach", { path: { releaseId } }), staleTime: 0, gcTime: 0 })
  if (reach.isError)
    return <ProblemNotice title="What depends on it could not be counted" problem={reach.error} />
  return (
    <section aria-label="What depends on it" className="rounded-md bg-sunken px-3 py-2">
      {reach.data === undefined ? (
        <p role="status" className="text-muted">
          Counting what depends on it…
        </p>
      ) : (
        <Counts reach={reach.data} />
      )}
    </section>
  )
}

function Counts({ reach }: { readonly reach: ReleaseReach }) {
  const { workspaces, enabledInstallations, disabledInstallations, callsLastHour, callsLastDay, running } =
    reach
  return (
    <ul className="space-y-0.5">
      <li>
        Installed in <strong>{plural(workspaces, "Workspace")}</strong>: {count(enabledInstallations)}{" "}
        enabled, {count(disabledInstallations)} disabled.
      </li>
      <li>
        <strong>{plural(callsLastHour, "call")}</strong> in the last hour, {count(callsLastDay)} in the last
        day.
      </li>
      <li>
        <strong>{count(running)}</strong> running now.
      </li>
    </ul>
  )
}
