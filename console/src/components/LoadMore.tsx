/** The end of a list that is read page by page. */

import { Button } from "@/components/Button"
import { ProblemNotice } from "@/components/Problems"

interface LoadMoreProps {
  readonly hasNextPage: boolean
  readonly isFetchingNextPage: boolean
  readonly isFetchNextPageError: boolean
  readonly error: Error | null
  readonly fetchNextPage: () => unknown
}

/** Takes the result of `useInfiniteQuery` as it is. */
export function LoadMore({ list }: { readonly list: LoadMoreProps }) {
  if (list.isFetchNextPageError) {
    return (
      <ProblemNotice
        title="The next page could not be loaded"
        problem={list.error}
        onRetry={() => list.fetchNextPage()}
      />
    )
  }
  if (!list.hasNextPage) return null
  return (
    <div className="flex justify-center pt-2">
      <Button busy={list.isFetchingNextPage} onClick={() => list.fetchNextPage()}>
        Load more
      </Button>
    </div>
  )
}
