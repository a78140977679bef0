/** A live list, with a function that loads older rows. */

import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useCallback } from "react"

import { extended, readFeed, readOlder, type Feed, type Placed, type Source } from "@/api/feed"
import type { Problem } from "@/api/problem"

export function useFeed<Row extends Placed>(source: Source<Row>, refreshMilliseconds: number | false) {
  const client = useQueryClient()
  const queryKey = source.key
  const query = useQuery<Feed<Row>, Problem>({
    queryKey,
    queryFn: ({ signal }) => readFeed(source, () => client.getQueryData<Feed<Row>>(queryKey), signal),
    // Rows keep their identity; comparing ten thousand of them in depth would take longer than reading them.
    structuralSharing: false,
    placeholderData: keepPreviousData,
    refetchInterval: refreshMilliseconds,
  })
  const older = useMutation<Feed<Row>, Problem, string>({
    mutationFn: (cursor) => readOlder(source, cursor),
    onSuccess: (page, cursor) =>
      client.setQueryData<Feed<Row>>(queryKey, (feed) =>
        // A list that started over meanwhile continues elsewhere.
        feed?.nextCursor === cursor ? extended(feed, page, source.order) : feed,
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
