/** Why there is nothing to invoke, and where to go for it. */

import { Link } from "@tanstack/react-router"
import { Plug, Unplug } from "lucide-react"

import { Button } from "@/components/Button"
import { EmptyState } from "@/components/EmptyState"

interface NothingOfferedProps {
  readonly workspaceId: string
  readonly agentId?: string
  readonly disabled?: boolean
}

export function NothingOffered({ workspaceId, agentId, disabled = false }: NothingOfferedProps) {
  const title =
    agentId === undefined
      ? "No Agent can be invoked here yet."
      : `${agentId} is ${disabled ? "disabled" : "not installed"} in this Workspace.`
  return (
    <EmptyState
      icon={agentId === undefined ? <Plug aria-hidden /> : <Unplug aria-hidden />}
      title={title}
      action={
        <>
          <Button asChild tone={disabled ? "primary" : "plain"}>
            <Link to="/workspaces/$workspaceId" params={{ workspaceId }}>
              Open the Workspace
            </Link>
          </Button>
          {disabled ? null : (
            <Button asChild tone="primary">
              <Link to="/discover" search={{ installable: true }}>
                Find an Agent
              </Link>
            </Button>
          )}
        </>
      }
    >
      {disabled
        ? "Enable its Installation first."
        : "Only Agents that are installed and enabled are offered."}
    </EmptyState>
  )
}
