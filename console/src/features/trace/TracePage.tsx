/** One Trace: waterfall, call graph and times of its Invocations, the facts of the one that is looked at; or two Traces side by side. */

import { useQuery } from "@tanstack/react-query"
import { getRouteApi } from "@tanstack/react-router"
import { Columns2, Download } from "lucide-react"
import { useState } from "react"

import type { Trace } from "@/api/contract.gen"
import { Button } from "@/components/Button"
import { Identifier } from "@/components/Identifier"
import { Loaded } from "@/components/Loaded"
import { Page } from "@/components/Page"
import { WorkspaceCrumbs } from "@/domain/WorkspaceCrumbs"
import { CompareDialog } from "@/features/trace/CompareDialog"
import { CompareView } from "@/features/trace/CompareView"
import { downloadJson } from "@/features/trace/download"
import { TraceSummary } from "@/features/trace/TraceSummary"
import { TraceViews } from "@/features/trace/TraceViews"
import { liveTrace } from "@/features/trace/liveTrace"

const route = getRouteApi("/console/workspaces/$workspaceId/traces/$traceId")

export function TracePage() {
  const { workspaceId, traceId } = route.useParams()
  const search = route.useSearch()
  const trace = useQuery(liveTrace(workspaceId, traceId))
  return (
    <Page
      title="Trace"
      isFull={search.with === undefined}
      heading={
        <span className="inline-flex flex-wrap items-center gap-x-2">
          Trace <Identifier value={traceId} what="trace id" />
        </span>
      }
      above={<WorkspaceCrumbs workspaceId={workspaceId} list="Traces" />}
      description={trace.data && search.with === undefined ? <TraceSummary trace={trace.data} /> : undefined}
      actions={trace.data ? <Actions trace={trace.data} /> : undefined}
    >
      <Loaded query={trace} what="Trace">
        {(found) =>
          search.with === undefined ? (
            <TraceViews trace={found} />
          ) : (
            <CompareView workspaceId={workspaceId} trace={found} otherId={search.with} />
          )
        }
      </Loaded>
      {trace.error?.status === 404 ? <NoSuchTrace /> : null}
    </Page>
  )
}

function NoSuchTrace() {
  return (
    <p className="mt-3 max-w-prose text-sm text-muted">
      No Invocation in this Workspace has this Trace id. A request that was refused before it ran has an id as
      well: it is for the logs of the platform and has no Trace.
    </p>
  )
}

function Actions({ trace }: { readonly trace: Trace }) {
  const navigate = route.useNavigate()
  const [isChoosing, setIsChoosing] = useState(false)
  const compared = route.useSearch().with
  return (
    <>
      {compared === undefined ? (
        <Button onClick={() => setIsChoosing(true)}>
          <Columns2 aria-hidden />
          Compare
        </Button>
      ) : (
        <Button onClick={() => void navigate({ search: (before) => ({ ...before, with: undefined }) })}>
          Stop comparing
        </Button>
      )}
      <Button onClick={() => downloadJson(`trace-${trace.traceId}.json`, trace)}>
        <Download aria-hidden />
        Download JSON
      </Button>
      <CompareDialog
        trace={trace}
        open={isChoosing}
        onClose={() => setIsChoosing(false)}
        onChoose={(other) => {
          setIsChoosing(false)
          void navigate({ search: { with: other } })
        }}
      />
    </>
  )
}
