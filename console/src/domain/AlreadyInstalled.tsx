/** Says that a Workspace has the Agent already, and what can be done with it there. */

import { Link } from "@tanstack/react-router"
import { CircleCheck, FlaskConical } from "lucide-react"

import type { InstallationItem } from "@/api/contract.gen"
import { Button } from "@/components/Button"
import { canBeTried } from "@/domain/installed"

export function AlreadyInstalled({ installation }: { readonly installation: InstallationItem }) {
  const { workspaceId, agentId, installedVersion, status } = installation
  return (
    <div role="note" className="space-y-3 rounded-lg border border-line bg-sunken p-3 text-sm">
      <p className="flex gap-2.5">
        <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-ok" />
        <span className="min-w-0">
          Already installed in <span className="id-text font-medium">{workspaceId}</span>: version{" "}
          <span className="id-text font-medium">{installedVersion}</span>
          {status === "disabled" ? ", disabled" : ""}. Change its version or its permissions in the Workspace.
        </span>
      </p>
      <div className="flex flex-wrap gap-2">
        {canBeTried(installation) ? (
          <TryIt workspaceId={workspaceId} agentId={agentId} tone="primary" />
        ) : null}
        <Button asChild size="small">
          <Link to="/workspaces/$workspaceId" params={{ workspaceId }} search={{ agent: agentId }}>
            Open {workspaceId}
          </Link>
        </Button>
      </div>
    </div>
  )
}

interface TryItProps {
  readonly workspaceId: string
  readonly agentId: string
  readonly tone?: "primary" | "plain"
  readonly size?: "small" | "normal"
}

export function TryIt({ workspaceId, agentId, tone = "plain", size = "small" }: TryItProps) {
  return (
    <Button asChild size={size} tone={tone}>
      <Link to="/workspaces/$workspaceId/playground" params={{ workspaceId }} search={{ agent: agentId }}>
        <FlaskConical aria-hidden />
        Try it
      </Link>
    </Button>
  )
}
