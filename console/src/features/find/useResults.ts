/** Everything the box has for a text, source by source. */

import { keepPreviousData, useQuery } from "@tanstack/react-query"

import type { DiscoveryItem, InstallationItem, WorkspaceItem } from "@/api/contract.gen"
import { useCurrentWorkspace } from "@/api/currentWorkspace"
import { isAbsent } from "@/api/problem"
import { ownAgents, read, workspacesAs } from "@/api/queries"
import { canBeTried, current, useInstallations } from "@/domain/installed"
import { actionsFor } from "@/features/find/actions"
import { hasWords, type IdKind, type Meaning } from "@/features/find/meaning"
import type { Option, Results } from "@/features/find/option"
import { resolve, type Where } from "@/features/find/resolve"

const MAX_AGENTS = 6
const MAX_OTHERS = 5

type Words = Extract<Meaning, { kind: "words" }>

/** Rendered by the box, with a text that has settled. */
export function useResults(meaning: Meaning): ReadonlyArray<Results> {
  const { workspaceId } = useCurrentWorkspace()
  const words = meaning.kind === "words" ? meaning : undefined
  const id = useIdResults(meaning.kind === "id" ? meaning : undefined, workspaceId)
  const installations = useInstallations(workspaceId).data ?? []
  const agents = useAgentResults(words?.verb === "try" ? undefined : words, installations)
  const workspaces = useWorkspaceResults(words?.verb === undefined ? words : undefined)
  if (meaning.kind === "id") return id === undefined ? [] : [id]
  const actions: Results = {
    heading: meaning.kind === "nothing" ? "Go to" : "Actions",
    options: words?.verb === undefined ? actionOptions(words?.words ?? "", workspaceId) : [],
  }
  const tries = words?.verb === "try" ? [toTry(words.words, installations)] : []
  if (words === undefined) return [actions]
  const [exact, ...others] = withExactFirst(words.identifier, [agents, workspaces])
  return [...(exact ? [exact] : []), actions, ...tries, ...others, everything(words.words)]
}

/** Whose id is exactly the text is meant, whatever else the words find. */
function withExactFirst(id: string | undefined, results: ReadonlyArray<Results>): ReadonlyArray<Results> {
  const isExact = ({ key }: Option) => key === id
  const exact = results.flatMap(({ options }) => options.filter(isExact))
  const others = results.map((each) => ({
    ...each,
    options: each.options.filter((option) => !isExact(option)),
  }))
  return [{ heading: "With this id", options: exact }, ...others]
}

function actionOptions(words: string, workspaceId: string | undefined): ReadonlyArray<Option> {
  return actionsFor(words, workspaceId).map(({ title, go }) => ({ key: title, kind: "action", title, go }))
}

function everything(words: string): Results {
  return {
    heading: "More",
    options: [
      {
        key: "search",
        kind: "search",
        title: `Search Discover for “${words}”`,
        go: (navigate) => navigate({ to: "/discover", search: { query: words } }),
      },
    ],
  }
}

/** What is installed here and can be called. */
function toTry(words: string, installations: ReadonlyArray<InstallationItem>): Results {
  const options = installations
    .filter((each) => canBeTried(each) && hasWords(`${each.agentName} ${each.agentId}`, words))
    .slice(0, MAX_AGENTS)
    .map(({ agentId, agentName, workspaceId }): Option => ({
      key: agentId,
      kind: "agent",
      title: `Try ${agentName}`,
      detail: agentId,
      go: (navigate) =>
        navigate({
          to: "/workspaces/$workspaceId/playground",
          params: { workspaceId },
          search: { agent: agentId },
        }),
    }))
  return { heading: "Try", options, note: "No Agent of this name is installed here." }
}

function useAgentResults(words: Words | undefined, installations: ReadonlyArray<InstallationItem>): Results {
  const installs = words?.verb === "install"
  const search = useQuery({
    ...read("discoverAgents", {
      query: {
        query: words?.words.slice(0, 256),
        latest: true,
        installable: installs ? true : undefined,
        limit: MAX_AGENTS,
      },
    }),
    enabled: words !== undefined,
    placeholderData: keepPreviousData,
  })
  const items = search.data?.items ?? []
  const isSearched = search.isFetched && !search.isPlaceholderData
  const exact = useExactAgent(words?.identifier, isSearched, items)
  const listed = items.map((item) => agentOption(item, installs, current(installations, item.agentId)))
  return {
    heading: installs ? "Install" : "Agents",
    options: exact.option === undefined ? listed : [exact.option, ...listed],
    isBusy: search.isFetching || exact.isBusy,
    problem: search.error,
  }
}

function agentOption(
  { agentId, name, version, owner }: DiscoveryItem,
  installs: boolean,
  installation: InstallationItem | undefined,
): Option {
  return {
    key: agentId,
    kind: "agent",
    title: installs ? `Install ${name} ${version}` : name,
    detail: `${agentId} · ${owner.displayName}`,
    mark: installation && `Installed ${installation.installedVersion}`,
    go: (navigate) =>
      navigate({
        to: "/agents/$agentId",
        params: { agentId },
        search: installs ? { version, open: "install" } : {},
      }),
  }
}

/** One that is not published is not found by words; whoever may see it opens it by its id. */
function useExactAgent(
  agentId: string | undefined,
  isSearched: boolean,
  items: ReadonlyArray<DiscoveryItem>,
): { readonly option?: Option; readonly isBusy: boolean } {
  const isListed = items.some((item) => item.agentId === agentId)
  const overview = useQuery({
    ...read("readAgentOverview", { path: { agentId: agentId ?? "" }, query: { limit: 1 } }),
    enabled: agentId !== undefined && isSearched && !isListed,
  })
  const { data, isFetching: isBusy } = overview
  if (isListed || data === undefined || agentId !== data.agentId) return { isBusy }
  const option: Option = {
    key: agentId,
    kind: "agent",
    title: data.versions[0]?.card.name ?? agentId,
    detail: agentId,
    go: (navigate) => navigate({ to: "/agents/$agentId", params: { agentId } }),
  }
  return { option, isBusy }
}

function useWorkspaceResults(words: Words | undefined): Results {
  const { items } = useReadable(words !== undefined)
  const known =
    words === undefined ? [] : items.filter(({ workspaceId }) => hasWords(workspaceId, words.words))
  const id = words?.identifier
  const isKnown = known.some(({ workspaceId }) => workspaceId === id)
  const exact = useQuery({
    ...read("readWorkspace", { path: { workspaceId: id ?? "" } }),
    enabled: id !== undefined && !isKnown,
  })
  const all = !isKnown && exact.data?.workspaceId === id && exact.data ? [exact.data, ...known] : known
  return {
    heading: "Workspaces",
    options: all.slice(0, MAX_OTHERS).map(({ workspaceId, ownerId }) => ({
      key: workspaceId,
      kind: "workspace",
      title: workspaceId,
      detail: `owned by ${ownerId}`,
      go: (navigate) => navigate({ to: "/workspaces/$workspaceId", params: { workspaceId } }),
    })),
    isBusy: exact.isFetching,
    problem: isAbsent(exact.error) ? undefined : exact.error,
  }
}

interface Readable {
  readonly items: ReadonlyArray<WorkspaceItem>
  readonly isReady: boolean
  readonly problem: unknown
}

/** Own ones first; one page of each kind. */
function useReadable(enabled: boolean): Readable {
  const own = useQuery(workspacesAs("owner"))
  const shared = useQuery({ ...workspacesAs("caller"), enabled })
  return {
    items: [...(own.data?.items ?? []), ...(shared.data?.items ?? [])],
    isReady: own.isFetched && shared.isFetched,
    problem: own.error ?? shared.error,
  }
}

function useIdResults(
  id: { readonly of: IdKind; readonly id: string } | undefined,
  open: string | undefined,
): Results | undefined {
  const readable = useReadable(id !== undefined)
  const agents = useQuery({ ...ownAgents(), enabled: id?.of === "binding" })
  const ids = readable.items.map(({ workspaceId }) => workspaceId)
  const where: Where = {
    workspaceIds: [...new Set(open === undefined ? ids : [open, ...ids])],
    providerIds: [...new Set(agents.data?.flatMap(({ providerId }) => providerId ?? []))],
  }
  const answer = useQuery({
    queryKey: ["find", id, where],
    queryFn: ({ signal }) => resolve(id?.of ?? "trace", id?.id ?? "", where, signal),
    enabled: id !== undefined && readable.isReady && (id.of !== "binding" || agents.isFetched),
  })
  if (id === undefined) return undefined
  const { data } = answer
  if (data === undefined) return { heading: "", options: [], isBusy: !answer.isError, problem: answer.error }
  return data.options.length > 0
    ? data
    : { ...data, problem: data.problem ?? readable.problem ?? agents.error }
}
