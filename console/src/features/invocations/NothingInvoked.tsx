/** Said of a Workspace in which nothing has been invoked. */

import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"

import { Button } from "@/components/Button"
import { EmptyState } from "@/components/EmptyState"

interface NothingInvokedProps {
  readonly workspaceId: string
  readonly icon: ReactNode
}

export function NothingInvoked({ workspaceId, icon }: NothingInvokedProps) {
  return (
    <EmptyState
      icon={icon}
      title="Nothing has been invoked in this Workspace."
      action={
        <Button asChild tone="primary">
          <Link to="/workspaces/$workspaceId/playground" params={{ workspaceId }}>
            Open the Playground
          </Link>
        </Button>
      }
    >
      Each call of an installed Agent is listed here as soon as it is accepted.
    </EmptyState>
  )
}
