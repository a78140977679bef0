/** One Agent like a package page: what a version can do and asks for, all versions, their difference, how to use it. */

import { useQuery } from "@tanstack/react-query"
import { getRouteApi } from "@tanstack/react-router"
import { useState } from "react"

import type { AgentOverview as Overview, CatalogEntry } from "@/api/contract.gen"
import { agentVersions } from "@/api/queries"
import { Button } from "@/components/Button"
import { CopyButton } from "@/components/CopyButton"
import { Loaded } from "@/components/Loaded"
import { Page } from "@/components/Page"
import { Tabs } from "@/components/Tabs"
import { InstallDialog } from "@/domain/InstallDialog"
import { NameWarnings } from "@/domain/NameWarnings"
import { StateBadge } from "@/domain/StateBadge"
import { TrustBadge } from "@/domain/TrustBadge"
import { DifferenceTab } from "@/features/agent/DifferenceTab"
import { OverviewTab } from "@/features/agent/OverviewTab"
import { UseTab } from "@/features/agent/UseTab"
import { VersionPicker } from "@/features/agent/VersionPicker"
import { VersionsTab } from "@/features/agent/VersionsTab"
import { shownVersion } from "@/features/agent/shownVersion"

const route = getRouteApi("/console/agents/$agentId")

export function AgentPage() {
  const { agentId } = route.useParams()
  const overview = useQuery(agentVersions(agentId))
  if (overview.data === undefined) {
    return (
      <Page title={agentId}>
        <Loaded query={overview} what="Agent">
          {() => null}
        </Loaded>
      </Page>
    )
  }
  return <KnownAgent key={agentId} agent={overview.data} />
}

function KnownAgent({ agent }: { readonly agent: Overview }) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const [installing, setInstalling] = useState(false)
  const entry = shownVersion(agent.versions, search.version)
  const { card } = entry
  return (
    <Page
      title={card.name}
      heading={
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
          {card.name}
          <Badges entry={entry} />
        </span>
      }
      above={
        <span className="inline-flex items-center gap-1">
          <span className="id-text">{agent.agentId}</span>
          <CopyButton text={agent.agentId} what="Agent id" className="size-6 [&_svg]:size-3.5" />
          <span>
            of <span className="id-text">{card.owner.id}</span>
          </span>
        </span>
      }
      description={card.description}
      actions={
        <>
          <VersionPicker
            label="Version"
            versions={agent.versions}
            value={entry.version}
            onChange={(version) => void navigate({ search: (kept) => ({ ...kept, version }), replace: true })}
          />
          <Button
            tone="primary"
            disabled={!entry.installable}
            title={
              entry.installable ? undefined : "Only a version with a published Release can be installed."
            }
            onClick={() => setInstalling(true)}
          >
            Install
          </Button>
        </>
      }
    >
      <div className="mb-4 empty:hidden">
        <NameWarnings agent={card} resembles={agent.resembles} />
      </div>
      <Tabs
        label="About this Agent"
        value={search.tab ?? "overview"}
        onChange={(tab) =>
          void navigate({ search: (kept) => ({ ...kept, tab }), replace: true, resetScroll: false })
        }
        tabs={[
          { name: "overview", label: "Overview", content: <OverviewTab agent={agent} entry={entry} /> },
          {
            name: "versions",
            label: `Versions (${agent.versions.length})`,
            content: <VersionsTab agent={agent} shown={entry.version} />,
          },
          {
            name: "difference",
            label: "Compare",
            content: <DifferenceTab agent={agent} entry={entry} from={search.from} />,
          },
          { name: "use", label: "Use in code", content: <UseTab entry={entry} /> },
        ]}
      />
      {installing ? (
        <InstallDialog
          agent={{ ...card, agentId: agent.agentId, version: entry.version }}
          onClose={() => setInstalling(false)}
          onInstalled={({ workspaceId }) =>
            void navigate({ to: "/workspaces/$workspaceId", params: { workspaceId } })
          }
        />
      ) : null}
    </Page>
  )
}

function Badges({ entry }: { readonly entry: CatalogEntry }) {
  return (
    <>
      {entry.publicationStatus === "published" ? null : <StateBadge state={entry.publicationStatus} />}
      <TrustBadge release={entry.release} publishedAt={entry.publishedAt} />
    </>
  )
}
