/** One own Agent with its versions. */

import { Link } from "@tanstack/react-router"
import { useState } from "react"

import type { OwnedAgent, OwnedAgentVersion } from "@/api/contract.gen"
import { Button } from "@/components/Button"
import { Panel } from "@/components/Panel"
import { Time } from "@/components/Time"
import { plural } from "@/components/format"
import { StateBadge } from "@/domain/StateBadge"
import { DisableDialog } from "@/features/my-agents/DisableDialog"
import { nextStep } from "@/features/my-agents/ownAgents"

/** Of a long history the newest ones are enough at first; how many there are is said. */
const SHOWN_VERSIONS = 5

export function OwnAgentPanel({ agent }: { readonly agent: OwnedAgent }) {
  const [isOpen, setIsOpen] = useState(false)
  const { agentId, providerId, versions, versionCounts } = agent
  const newest = versions[0]
  const count = versionCounts.draft + versionCounts.published + versionCounts.disabled
  const shown = isOpen ? versions : versions.slice(0, SHOWN_VERSIONS)
  return (
    <Panel
      padded={false}
      label={agentId}
      title={
        <Link to="/agents/$agentId" params={{ agentId }} className="hover:text-accent-strong hover:underline">
          {agent.name}
        </Link>
      }
      description={
        <>
          <span className="id-text">{agentId}</span> · {plural(count, "version")} ·{" "}
          {providerId === undefined ? "no provider yet" : `provider ${providerId}`}
        </>
      }
      actions={
        newest ? (
          <Button asChild size="small">
            <Link to="/publish" search={{ agent: agentId, from: newest.version, provider: providerId }}>
              New version
            </Link>
          </Button>
        ) : null
      }
    >
      <ul className="divide-y divide-line">
        {shown.map((version) => (
          <VersionRow key={version.version} agent={agent} entry={version} />
        ))}
      </ul>
      {shown.length < count ? (
        <p className="border-t border-line px-4 py-2 text-sm">
          {shown.length < versions.length ? (
            <Button size="small" tone="quiet" onClick={() => setIsOpen(true)}>
              Show all {versions.length} versions
            </Button>
          ) : (
            <Link
              to="/agents/$agentId"
              params={{ agentId }}
              search={{ tab: "versions" }}
              className="text-accent-strong underline underline-offset-2"
            >
              All {count} versions are on the page of the Agent
            </Link>
          )}
        </p>
      ) : null}
    </Panel>
  )
}

interface VersionProps {
  readonly agent: OwnedAgent
  readonly entry: OwnedAgentVersion
}

function VersionRow({ agent, entry }: VersionProps) {
  const [disabling, setDisabling] = useState(false)
  const { agentId } = agent
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-2.5">
      <Link
        to="/agents/$agentId"
        params={{ agentId }}
        search={{ version: entry.version }}
        className="w-24 id-text font-medium text-accent-strong hover:underline"
      >
        {entry.version}
      </Link>
      <span className="order-last flex basis-full flex-wrap items-center gap-x-4 gap-y-1 text-sm text-muted sm:order-none sm:flex-1 sm:basis-0">
        <span className="inline-flex items-center gap-1.5">
          Card <StateBadge state={entry.publicationStatus} />
        </span>
        <span className="inline-flex items-center gap-1.5">
          Release {entry.release ? <StateBadge state={entry.release.state} /> : "none"}
        </span>
        <span>
          registered <Time at={entry.registeredAt} />
        </span>
      </span>
      <span className="ml-auto flex gap-2">
        <NextButton agent={agent} entry={entry} />
        {entry.publicationStatus === "disabled" ? null : (
          <Button
            size="small"
            tone="quiet"
            aria-label={`Disable ${agentId} ${entry.version}`}
            onClick={() => setDisabling(true)}
          >
            Disable
          </Button>
        )}
      </span>
      {disabling ? (
        <DisableDialog
          agentId={agentId}
          name={agent.name}
          version={entry.version}
          onClose={() => setDisabling(false)}
        />
      ) : null}
    </li>
  )
}

function NextButton({ agent: { agentId: agent, providerId: provider }, entry }: VersionProps) {
  const { version, release } = entry
  const next = nextStep(entry)
  if (next === "continue") {
    return (
      <Button asChild size="small">
        <Link
          to="/publish"
          search={{ agent, version, provider }}
          aria-label={`Continue publishing ${agent} ${version}`}
        >
          Continue publishing
        </Link>
      </Button>
    )
  }
  if (next === "none" || release === null) return null
  return (
    <Button asChild size="small">
      <Link
        to="/releases/$releaseId"
        params={{ releaseId: release.releaseId }}
        aria-label={`Release of ${agent} ${version}`}
      >
        Release
      </Link>
    </Button>
  )
}
