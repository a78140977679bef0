/** One Agent like a package page: what a version can do and asks for, all versions, their difference, how to use it. */

import { useQuery } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"

import type { AgentOverview as Overview, CatalogEntry, InstallationItem } from "@/api/contract.gen"
import { agentVersions } from "@/api/queries"
import { Badge } from "@/components/Badge"
import { Breadcrumbs } from "@/components/Breadcrumbs"
import { CopyButton } from "@/components/CopyButton"
import { Loaded } from "@/components/Loaded"
import { Page } from "@/components/Page"
import { Tabs } from "@/components/Tabs"
import { NameWarnings } from "@/domain/NameWarnings"
import { StateBadge } from "@/domain/StateBadge"
import { TrustBadge } from "@/domain/TrustBadge"
import { useOpenWorkspace } from "@/domain/installed"
import { AgentActions } from "@/features/agent/AgentActions"
import { DifferenceTab } from "@/features/agent/DifferenceTab"
import { NotInstallable } from "@/features/agent/NotInstallable"
import { OverviewTab } from "@/features/agent/OverviewTab"
import { UseTab } from "@/features/agent/UseTab"
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
  const workspace = useOpenWorkspace()
  const installation = workspace.installationOf(agent.agentId)
  const entry = shownVersion(agent.versions, search.version)
  const { card } = entry
  return (
    <Page
      title={card.name}
      heading={
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
          {card.name}
          <Badges entry={entry} installation={installation} />
        </span>
      }
      above={
        <Breadcrumbs>
          <Link to="/discover">Discover</Link>
          <span className="inline-flex items-center gap-1">
            <span className="id-text">{agent.agentId}</span>
            <CopyButton text={agent.agentId} what="Agent id" className="size-6 [&_svg]:size-3.5" />
            <span>
              of <span className="id-text">{card.owner.id}</span>
            </span>
          </span>
        </Breadcrumbs>
      }
      description={card.description}
      actions={<AgentActions agent={agent} entry={entry} workspace={workspace} />}
    >
      <div className="mb-4 space-y-3 empty:hidden">
        <NotInstallable agent={agent} entry={entry} />
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
    </Page>
  )
}

interface BadgesProps {
  readonly entry: CatalogEntry
  readonly installation: InstallationItem | undefined
}

function Badges({ entry, installation }: BadgesProps) {
  return (
    <>
      {entry.publicationStatus === "published" ? null : <StateBadge state={entry.publicationStatus} />}
      <TrustBadge release={entry.release} publishedAt={entry.publishedAt} />
      {installation === undefined ? null : (
        <Badge tone={installation.status === "enabled" ? "accent" : "warn"}>
          {installation.status === "enabled" ? "Installed" : "Disabled"} in {installation.workspaceId}:{" "}
          {installation.installedVersion}
        </Badge>
      )}
    </>
  )
}
