/** The caller's Workspaces, and a new one. */

import { useInfiniteQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { Boxes } from "lucide-react"

import { itemsOf, pages } from "@/api/queries"
import { Badge } from "@/components/Badge"
import { EmptyState } from "@/components/EmptyState"
import { LoadMore } from "@/components/LoadMore"
import { Page } from "@/components/Page"
import { ProblemNotice } from "@/components/Problems"
import { Loading } from "@/components/Skeleton"
import { Time } from "@/components/Time"
import { NewWorkspace } from "@/features/workspace/NewWorkspace"

export function WorkspacesPage() {
  return (
    <Page
      title="Workspaces"
      description="A Workspace holds the Agents its owner has installed and the record of what they did. Its owner can let others call them."
    >
      <div className="space-y-5">
        <NewWorkspace />
        <WorkspaceList />
      </div>
    </Page>
  )
}

function WorkspaceList() {
  const list = useInfiniteQuery(pages("listWorkspaces", { query: {} }))
  if (list.data === undefined) {
    if (!list.isError) return <Loading what="Workspaces" />
    return (
      <ProblemNotice
        title="Workspaces could not be loaded"
        problem={list.error}
        onRetry={() => void list.refetch()}
      />
    )
  }
  const workspaces = itemsOf<"listWorkspaces">(list.data)
  if (workspaces.length === 0 && !list.hasNextPage) {
    return (
      <EmptyState icon={<Boxes aria-hidden />} title="You have no Workspace yet.">
        Create one above; then install Agents into it.
      </EmptyState>
    )
  }
  return (
    <>
      <ul aria-label="Workspaces" className="divide-y divide-line rounded-lg border border-line bg-surface">
        {workspaces.map(({ workspaceId, createdAt, role, ownerId }) => (
          <li
            key={workspaceId}
            className="relative flex items-baseline justify-between gap-4 px-4 py-3 hover:bg-hover"
          >
            <Link
              to="/workspaces/$workspaceId"
              params={{ workspaceId }}
              className="min-w-0 flex-1 basis-48 id-text font-medium after:absolute after:inset-0 hover:text-accent-strong"
            >
              {workspaceId}
            </Link>
            {role === "caller" ? <Badge title={`Owned by ${ownerId}`}>caller</Badge> : null}
            <span className="shrink-0 text-sm text-muted">
              created <Time at={createdAt} />
            </span>
          </li>
        ))}
      </ul>
      <LoadMore list={list} />
    </>
  )
}
