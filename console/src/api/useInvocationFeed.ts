/** The live list of Invocations, with a function that loads older rows. */

import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useCallback } from "react"

import { extended, invocationFeed, readOlder, type Feed, type InvocationFilters } from "@/api/invocationFeed"
import type { Problem } from "@/api/problem"

export function useInvocationFeed(
  workspaceId: string,
  filters: InvocationFilters,
  refreshMilliseconds: number | false,
) {
  const client = useQueryClient()
  const options = invocationFeed(workspaceId, filters)
  const query = useQuery({
    ...options,
    placeholderData: keepPreviousData,
    refetchInterval: refreshMilliseconds,
  })
  const older = useMutation<Feed, Problem, string>({
    mutationFn: (cursor) => readOlder(workspaceId, filters, cursor),
    onSuccess: (page, cursor) =>
      client.setQueryData<Feed>(options.queryKey, (feed) =>
        // A list that started over meanwhile continues elsewhere.
        feed?.nextCursor === cursor ? extended(feed, page) : feed,
      ),
  })
  const nextCursor = query.isPlaceholderData ? undefined : query.data?.nextCursor
  const { mutate, isPending } = older
  const fetchNextPage = useCallback(() => {
    if (nextCursor !== undefined && !isPending) mutate(nextCursor)
  }, [nextCursor, isPending, mutate])
  // In the shape that `LoadMore` takes.
  const end = {
    hasNextPage: nextCursor !== undefined,
    isFetchingNextPage: isPending,
    isFetchNextPageError: older.isError && older.variables === nextCursor,
    error: older.error,
    fetchNextPage,
  }
  return { query, end }
}
