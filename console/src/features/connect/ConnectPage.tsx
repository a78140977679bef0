/** Use it from…: how assistants, editors, frameworks and code call what is installed, ready to be pasted. */

import { useQuery } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"

import type { AgentCard, InstallationItem } from "@/api/contract.gen"
import { read, whole } from "@/api/queries"
import { Breadcrumbs } from "@/components/Breadcrumbs"
import { Loaded } from "@/components/Loaded"
import { Page } from "@/components/Page"
import { runtimeConfig } from "@/config/runtime"
import { NothingOffered } from "@/domain/NothingOffered"
import { agentChoice, offered, skillChoice } from "@/domain/choice"
import { schemaExample } from "@/domain/schemaExample"
import { snippetNamed, TABLE, type Callee } from "@/domain/snippets"
import { Addresses } from "@/features/connect/Addresses"
import { CallFields } from "@/features/connect/CallFields"
import { SnippetChoice } from "@/features/connect/SnippetChoice"
import { SnippetSteps } from "@/features/connect/SnippetSteps"

const route = getRouteApi("/console/workspaces/$workspaceId/connect")

export function ConnectPage() {
  const { workspaceId } = route.useParams()
  const installations = useQuery(whole("listInstallations", { path: { workspaceId }, query: {} }))
  return (
    <Page
      title="Use it from…"
      above={
        <Breadcrumbs>
          <Link to="/workspaces">Workspaces</Link>
          <Link to="/workspaces/$workspaceId" params={{ workspaceId }} className="id-text">
            {workspaceId}
          </Link>
          <span>Use it from…</span>
        </Breadcrumbs>
      }
      description="Call what is installed in this Workspace from the program you have. Every call is permitted and recorded like any other."
    >
      <Loaded query={installations} what="Installations">
        {(records) => <AgentChosen workspaceId={workspaceId} installations={records} />}
      </Loaded>
    </Page>
  )
}

interface AgentChosenProps {
  readonly workspaceId: string
  readonly installations: ReadonlyArray<InstallationItem>
}

function AgentChosen({ workspaceId, installations }: AgentChosenProps) {
  const { agent } = route.useSearch()
  const choice = agentChoice(installations, agent)
  if (choice.kind !== "chosen") return <NothingOffered {...choice} workspaceId={workspaceId} />
  return <CardRead enabled={offered(installations)} installation={choice.installation} />
}

interface CardReadProps {
  readonly enabled: ReadonlyArray<InstallationItem>
  readonly installation: InstallationItem
}

function CardRead({ enabled, installation }: CardReadProps) {
  const { agentId, installedVersion: version } = installation
  const card = useQuery({ ...read("readAgentCard", { path: { agentId, version } }), staleTime: Infinity })
  return (
    <div className="space-y-5">
      <CallFields enabled={enabled} installation={installation} card={card.data} />
      <Loaded query={card} what="Agent Card">
        {(found) => <Chosen installation={installation} card={found} />}
      </Loaded>
    </div>
  )
}

interface ChosenProps {
  readonly installation: InstallationItem
  readonly card: AgentCard
}

function Chosen({ installation, card }: ChosenProps) {
  const { capability, from } = route.useSearch()
  const { apiBaseUrl: gateway, doorOrigin: door } = runtimeConfig()
  const { workspaceId, agentId } = installation
  const choice = skillChoice(card, installation, capability)
  const callee: Callee = {
    ...{ gateway, workspaceId, door },
    call:
      choice.kind === "chosen"
        ? {
            ...{ agentId, capability: choice.skill.id, input: schemaExample(choice.skill.inputSchema) },
            streaming: card.limits.streaming,
          }
        : undefined,
  }
  const snippet = snippetNamed(from) ?? TABLE.snippets[0]
  if (snippet === undefined) return null
  return (
    <div className="grid gap-5 lg:grid-cols-[minmax(0,1fr)_20rem]">
      <div className="min-w-0 space-y-5">
        <SnippetChoice chosen={snippet} />
        <SnippetSteps snippet={snippet} callee={callee} />
      </div>
      <Addresses callee={callee} />
    </div>
  )
}
