/** Shows a read in each of its states: placeholders, the problem with a retry, or the data. */

import type { UseQueryResult } from "@tanstack/react-query"
import type { ReactNode } from "react"

import { ProblemNotice } from "@/components/Problems"
import { Loading } from "@/components/Skeleton"

interface LoadedProps<Value> {
  readonly query: UseQueryResult<Value>
  /** For the placeholder's name: "Workspaces". */
  readonly what: string
  readonly loading?: ReactNode
  readonly children: (value: Value) => ReactNode
}

/** If a refresh fails, the old data stays, with a notice above it. */
export function Loaded<Value>({ query, what, loading, children }: LoadedProps<Value>) {
  if (query.data === undefined) {
    if (query.isError) {
      return (
        <ProblemNotice
          title={`${what} could not be loaded`}
          problem={query.error}
          onRetry={() => void query.refetch()}
        />
      )
    }
    return loading ?? <Loading what={what} />
  }
  return (
    <>
      {query.isError ? (
        <div className="mb-4">
          <ProblemNotice
            title={`${what} could not be refreshed`}
            problem={query.error}
            onRetry={() => void query.refetch()}
          />
        </div>
      ) : null}
      {children(query.data)}
    </>
  )
}
