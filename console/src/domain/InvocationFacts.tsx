/** Everything the Ledger's record of an Invocation says, each place one can go on to linked. */

import { Link } from "@tanstack/react-router"
import { ArrowUpRight } from "lucide-react"
import { cloneElement, type ComponentProps, type ReactElement } from "react"

import type { InvocationRecord } from "@/api/contract.gen"
import { Button } from "@/components/Button"
import { Facts } from "@/components/Facts"
import { Identifier } from "@/components/Identifier"
import { Time } from "@/components/Time"
import { duration } from "@/components/format"
import { micros, span } from "@/components/instants"
import { StateBadge } from "@/domain/StateBadge"
import { isEnded, type InvocationState } from "@/domain/invocationState"

const LINK = "text-accent-strong underline-offset-2 hover:underline"

interface InvocationFactsProps {
  readonly record: InvocationRecord
  readonly state: InvocationState
}

export function InvocationFacts({ record, state }: InvocationFactsProps) {
  const ended = isEnded(record.status)
  return (
    <Facts
      className="items-baseline"
      facts={[
        ["State", <StateBadge key="state" state={state} />],
        ["Agent", <AgentLink key="agent" record={record} />],
        [
          "Capability",
          <code key="capability" className="id-text">
            {record.capability}
          </code>,
        ],
        ["Release", <ReleaseLink key="release" releaseId={record.agentReleaseId} />],
        ["Card digest", <Identifier key="digest" value={record.agentCardDigest} what="Card digest" />],
        ["Caller", `${record.caller.id} (${record.caller.type})`],
        ["Started", <Time key="created" at={record.createdAt} exact />],
        ["Ended", ended && <Time key="ended" at={record.updatedAt} exact />],
        ["Latency", record.latencyMs !== undefined && duration(record.latencyMs)],
        ["Deadline", <Deadline key="deadline" record={record} />],
        ["Called from", record.parentInvocationId && <ParentLink key="parent" record={record} />],
        ["Invocation", <Identifier key="id" value={record.invocationId} what="Invocation id" />],
        ["Root Task", <Identifier key="task" value={record.rootTaskId} what="root Task id" />],
        ["Trace", <Identifier key="trace" value={record.traceId} what="trace id" />],
      ]}
    />
  )
}

function AgentLink({ record }: { readonly record: InvocationRecord }) {
  const { targetAgentId: agentId, agentCardVersion: version } = record
  return (
    <span className="id-text">
      <Link to="/agents/$agentId" params={{ agentId }} search={{ version }} className={LINK}>
        {agentId}
      </Link>{" "}
      {version}
    </span>
  )
}

/** The look of a small button for the link it is given. */
function Goto({
  label,
  children,
}: {
  readonly label: string
  readonly children: ReactElement<ComponentProps<"a">>
}) {
  return (
    <Button
      asChild
      tone="quiet"
      size="iconSmall"
      className="size-6 [&_svg]:size-3.5"
      aria-label={label}
      title={label}
    >
      {cloneElement(children, undefined, <ArrowUpRight aria-hidden />)}
    </Button>
  )
}

function ReleaseLink({ releaseId }: { readonly releaseId: string }) {
  return (
    <span className="inline-flex items-center">
      <Identifier value={releaseId} what="Release id" />
      <Goto label="Open the Release">
        <Link to="/releases/$releaseId" params={{ releaseId }} />
      </Goto>
    </span>
  )
}

function ParentLink({ record }: { readonly record: InvocationRecord }) {
  const { workspaceId, parentInvocationId: invocationId = "" } = record
  return (
    <span className="inline-flex items-center">
      <Identifier value={invocationId} what="parent Invocation id" />
      <Goto label="Open the Invocation it was called from">
        <Link
          to="/workspaces/$workspaceId/invocations/$invocationId"
          params={{ workspaceId, invocationId }}
        />
      </Goto>
    </span>
  )
}

function Deadline({ record }: { readonly record: InvocationRecord }) {
  return (
    <>
      <Time at={record.deadlineAt} exact />{" "}
      <span className="whitespace-nowrap text-muted">
        (after {span(micros(record.deadlineAt) - micros(record.createdAt))})
      </span>
    </>
  )
}
