/** One own Agent with its versions. */

import { Link } from "@tanstack/react-router"
import { useState } from "react"

import type { CatalogEntry } from "@/api/contract.gen"
import { Button } from "@/components/Button"
import { Panel } from "@/components/Panel"
import { Time } from "@/components/Time"
import { StateBadge } from "@/domain/StateBadge"
import { DisableDialog } from "@/features/my-agents/DisableDialog"
import { nextStep, type OwnAgent } from "@/features/my-agents/groups"

interface OwnAgentPanelProps {
  readonly agent: OwnAgent
  readonly providerId: string
}

export function OwnAgentPanel({ agent, providerId }: OwnAgentPanelProps) {
  const [newest] = agent.versions
  if (newest === undefined) return null
  return (
    <Panel
      padded={false}
      label={agent.agentId}
      title={
        <Link
          to="/agents/$agentId"
          params={{ agentId: agent.agentId }}
          className="hover:text-accent-strong hover:underline"
        >
          {newest.card.name}
        </Link>
      }
      description={<span className="id-text">{agent.agentId}</span>}
      actions={
        <Button asChild size="small">
          <Link to="/publish" search={{ agent: agent.agentId, from: newest.version, provider: providerId }}>
            New version
          </Link>
        </Button>
      }
    >
      <ul className="divide-y divide-line">
        {agent.versions.map((entry) => (
          <VersionRow key={entry.version} entry={entry} providerId={providerId} />
        ))}
      </ul>
    </Panel>
  )
}

function VersionRow({ entry, providerId }: { readonly entry: CatalogEntry; readonly providerId: string }) {
  const [disabling, setDisabling] = useState(false)
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-2.5">
      <Link
        to="/agents/$agentId"
        params={{ agentId: entry.agentId }}
        search={{ version: entry.version }}
        className="w-24 id-text font-medium text-accent-strong hover:underline"
      >
        {entry.version}
      </Link>
      <span className="flex flex-1 flex-wrap items-center gap-x-4 gap-y-1 text-sm text-muted">
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
      <span className="flex gap-2">
        <NextButton entry={entry} providerId={providerId} />
        {entry.publicationStatus === "disabled" ? null : (
          <Button
            size="small"
            tone="quiet"
            aria-label={`Disable ${entry.agentId} ${entry.version}`}
            onClick={() => setDisabling(true)}
          >
            Disable
          </Button>
        )}
      </span>
      {disabling ? <DisableDialog entry={entry} onClose={() => setDisabling(false)} /> : null}
    </li>
  )
}

function NextButton({ entry, providerId }: { readonly entry: CatalogEntry; readonly providerId: string }) {
  const { agentId: agent, version, release } = entry
  const next = nextStep(entry)
  if (next === "continue") {
    return (
      <Button asChild size="small">
        <Link
          to="/publish"
          search={{ agent, version, provider: providerId }}
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
