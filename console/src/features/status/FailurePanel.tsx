/** The failures of a range of time by code and reason; each leads to the Invocations behind it. */

import { Link } from "@tanstack/react-router"

import type { Figures } from "@/api/contract.gen"
import { recoveryOf } from "@/api/recovery"
import { Badge } from "@/components/Badge"
import { Panel } from "@/components/Panel"
import { Sentence } from "@/components/Sentence"
import { plural } from "@/components/format"
import { failuresOf, type Failure } from "@/features/status/figures"

export function FailurePanel({ figures }: { readonly figures: Figures }) {
  const failures = failuresOf(figures)
  return (
    <Panel title="Failures" description="By code and reason, with what to do about each." padded={false}>
      {failures.length === 0 ? (
        <p className="p-4 text-sm text-muted">No Invocation failed or timed out.</p>
      ) : (
        <ul className="divide-y divide-line text-sm">
          {failures.map((failure) => (
            <FailureItem
              key={`${failure.code} ${failure.reason ?? ""}`}
              failure={failure}
              figures={figures}
            />
          ))}
        </ul>
      )}
    </Panel>
  )
}

interface FailureItemProps {
  readonly failure: Failure
  readonly figures: Figures
}

function FailureItem({ failure: { code, reason, calls }, figures }: FailureItemProps) {
  const { workspaceId, since, until } = figures
  const recovery = recoveryOf({ code, reason })
  return (
    <li className="relative px-4 py-3 hover:bg-hover">
      <div className="flex flex-wrap items-center gap-2">
        <Link
          to="/workspaces/$workspaceId/invocations"
          params={{ workspaceId }}
          search={{ code, reason, since, until }}
          className="font-medium text-accent-strong underline-offset-2 after:absolute after:inset-0 hover:underline"
        >
          <code className="id-text">{code}</code>
          {reason ? <code className="ml-2 id-text font-normal">{reason}</code> : null}
        </Link>
        <Badge tone="bad">{plural(calls, "time")}</Badge>
      </div>
      {recovery.sentence ? (
        <p className="mt-1">
          <Sentence text={recovery.sentence} />
        </p>
      ) : null}
      <p className="mt-1 text-muted">
        <Sentence text={recovery.action} />
      </p>
    </li>
  )
}
