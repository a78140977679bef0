/** Server state: one query per operation and input, lists page by page, and actions that make reads stale. */

import {
  infiniteQueryOptions,
  queryOptions,
  useMutation,
  useQueryClient,
  type QueryClient,
  type UseMutationResult,
} from "@tanstack/react-query"

import type { OperationId, Operations } from "@/api/contract.gen"
import { call, type Answer, type Input } from "@/api/http"
import type { Problem } from "@/api/problem"

/** Operations that answer a page: `{items, nextCursor?}`. */
export type ListId = {
  [Id in OperationId]: Operations[Id]["answer"] extends { items: ReadonlyArray<unknown> } ? Id : never
}[OperationId]

/** `useQuery(read("readWorkspace", { path: { workspaceId } }))` */
export function read<Id extends OperationId>(id: Id, input: Input<Id>) {
  return queryOptions<Answer<Id>, Problem>({
    queryKey: [id, input],
    queryFn: ({ signal }) => call(id, input, signal),
  })
}

/** The account of this session. It does not change while the session lasts. */
export function me() {
  return queryOptions({ ...read("readMe", {}), staleTime: Infinity })
}

/** One page of the Workspaces in this role: a list that grows by what strangers do is never read whole. */
export function workspacesAs(role: "owner" | "caller") {
  return queryOptions({
    ...read("listWorkspaces", { query: { role, limit: 100 } }),
    select: ({ items, nextCursor }) => ({ items, isWhole: nextCursor === undefined }),
  })
}

/** Everything the account owns, over all providers. */
export function ownAgents() {
  return whole("listMyAgents", { query: {} })
}

/** `useInfiniteQuery(pages("listInstallations", { path: { workspaceId }, query: {} }))` */
export function pages<Id extends ListId>(id: Id, input: Input<Id>) {
  return infiniteQueryOptions({
    queryKey: [id, input, "pages"],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }): Promise<Answer<Id>> => {
      const { query } = input as { query?: object }
      return call(id, { ...input, query: { ...query, cursor: pageParam } }, signal)
    },
    getNextPageParam: (last) => (last as { nextCursor?: string }).nextCursor,
  })
}

type Item<Id extends ListId> = Answer<Id> extends { items: ReadonlyArray<infer Each> } ? Each : never

/** The items of all pages read so far, in their order. */
export function itemsOf<Id extends ListId>(
  result: { pages: ReadonlyArray<Answer<Id>> } | undefined,
): ReadonlyArray<Item<Id>> {
  return (result?.pages ?? []).flatMap((page) => (page as { items: ReadonlyArray<Item<Id>> }).items)
}

/** Every item of a list, all pages read one after the other; for lists that are small by their nature. */
export function whole<Id extends ListId>(id: Id, input: Input<Id>) {
  return queryOptions<ReadonlyArray<Item<Id>>, Problem>({
    queryKey: [id, input, "whole"],
    queryFn: ({ signal }) => everyItem(id, input, signal),
  })
}

export async function everyItem<Id extends ListId>(
  id: Id,
  input: Input<Id>,
  signal: AbortSignal,
): Promise<ReadonlyArray<Item<Id>>> {
  const { query } = input as { query?: object }
  const found: Item<Id>[] = []
  let cursor: string | undefined
  do {
    const page = await call(id, { ...input, query: { ...query, limit: 100, cursor } }, signal)
    found.push(...(page as { items: ReadonlyArray<Item<Id>> }).items)
    cursor = (page as { nextCursor?: string }).nextCursor
  } while (cursor !== undefined)
  return found
}

/** Every Release that anyone may see of an Agent, newest first; its pages are read one after the other. */
export function sharedReleases(publicAgentId: string) {
  return infiniteQueryOptions({
    queryKey: ["readPublicAgent", { path: { publicAgentId } }, "pages"],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }): Promise<Answer<"readPublicAgent">> =>
      call("readPublicAgent", { path: { publicAgentId }, query: { cursor: pageParam } }, signal),
    getNextPageParam: (last) => last.nextCursor,
  })
}

/** An Agent with every version the caller may see, newest registration first. */
export function agentVersions(agentId: string) {
  return queryOptions<Answer<"readAgentOverview">, Problem>({
    queryKey: ["readAgentOverview", { path: { agentId } }, "whole"],
    queryFn: async ({ signal }) => {
      let page = await call("readAgentOverview", { path: { agentId }, query: { limit: 100 } }, signal)
      const versions = [...page.versions]
      while (page.nextCursor !== undefined) {
        const query = { limit: 100, cursor: page.nextCursor }
        page = await call("readAgentOverview", { path: { agentId }, query }, signal)
        versions.push(...page.versions)
      }
      return { ...page, versions }
    },
  })
}

/** A Trace with all its Invocations; a large one comes in pages. */
export function wholeTrace(path: Input<"readTrace">["path"]) {
  return queryOptions<Answer<"readTrace">, Problem>({
    queryKey: ["readTrace", { path }, "whole"],
    queryFn: async ({ signal }) => {
      let { nextCursor, ...trace } = await call("readTrace", { path, query: {} }, signal)
      while (nextCursor !== undefined) {
        const page = await call("readTrace", { path, query: { cursor: nextCursor } }, signal)
        trace = { ...trace, invocations: [...trace.invocations, ...page.invocations] }
        nextCursor = page.nextCursor
      }
      return trace
    },
  })
}

/** An action on the Gateway; after its end, also after a failure, the named reads are refetched. */
export function useAction<Id extends OperationId>(
  id: Id,
  stale: ReadonlyArray<OperationId> = [],
): UseMutationResult<Answer<Id>, Problem, Input<Id>> {
  const client = useQueryClient()
  return useMutation<Answer<Id>, Problem, Input<Id>>({
    mutationFn: (input) => call(id, input),
    onSettled: () => readAgain(client, stale),
  })
}

/** Not waited for: what the caller does next must not depend on whether its screen survives the refresh. */
export function readAgain(client: QueryClient, stale: ReadonlyArray<OperationId>): void {
  for (const name of stale) {
    // A first read that is under way would be taken for the new one, although it may have missed the action.
    void client.cancelQueries({ queryKey: [name] })
    void client.invalidateQueries({ queryKey: [name] })
  }
}
