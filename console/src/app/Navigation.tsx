/** The navigation: pages for everybody, for the chosen Workspace, and for providers. */

import { createLink } from "@tanstack/react-router"
import {
  Activity,
  Boxes,
  Compass,
  FlaskConical,
  Package,
  Plug,
  Rocket,
  ScrollText,
  Users,
  Waypoints,
} from "lucide-react"
import type { ComponentProps, ReactNode } from "react"

import { useCurrentWorkspace } from "@/api/currentWorkspace"
import { SessionMenu } from "@/app/SessionMenu"
import { WorkspaceSwitcher } from "@/app/WorkspaceSwitcher"

export function Navigation({ onShortcuts }: { readonly onShortcuts: () => void }) {
  const { workspaceId } = useCurrentWorkspace()
  return (
    <nav aria-label="Main" className="flex flex-1 flex-col gap-5 overflow-y-auto px-3 pb-3 max-lg:pt-3">
      <Group>
        <Place to="/discover" icon={<Compass aria-hidden />}>
          Discover
        </Place>
        <Place to="/status" icon={<Activity aria-hidden />}>
          Status
        </Place>
      </Group>
      <Group label="Workspace">
        <WorkspaceSwitcher />
        {workspaceId === undefined ? null : (
          <>
            <Place
              to="/workspaces/$workspaceId"
              params={{ workspaceId }}
              icon={<Boxes aria-hidden />}
              activeOptions={{ exact: true }}
            >
              Installations
            </Place>
            <Place
              to="/workspaces/$workspaceId/playground"
              params={{ workspaceId }}
              icon={<FlaskConical aria-hidden />}
            >
              Playground
            </Place>
            <Place to="/workspaces/$workspaceId/connect" params={{ workspaceId }} icon={<Plug aria-hidden />}>
              Use it from…
            </Place>
            <Place
              to="/workspaces/$workspaceId/traces"
              params={{ workspaceId }}
              icon={<Waypoints aria-hidden />}
            >
              Traces
            </Place>
            <Place
              to="/workspaces/$workspaceId/invocations"
              params={{ workspaceId }}
              icon={<ScrollText aria-hidden />}
            >
              Invocations
            </Place>
            <Place to="/workspaces/$workspaceId/people" params={{ workspaceId }} icon={<Users aria-hidden />}>
              People
            </Place>
          </>
        )}
      </Group>
      <Group label="Publishing">
        <Place to="/my-agents" icon={<Package aria-hidden />}>
          My Agents
        </Place>
        <Place to="/publish" icon={<Rocket aria-hidden />}>
          Publish
        </Place>
      </Group>
      <div className="mt-auto border-t border-line pt-3">
        <SessionMenu onShortcuts={onShortcuts} />
      </div>
    </nav>
  )
}

function Group({ label, children }: { readonly label?: string; readonly children: ReactNode }) {
  return (
    <div className="space-y-0.5">
      {label ? <p className="px-2 pb-1 text-xs font-medium text-muted">{label}</p> : null}
      {children}
    </div>
  )
}

interface PlaceAnchorProps extends ComponentProps<"a"> {
  readonly icon: ReactNode
}

function PlaceAnchor({ icon, children, ...rest }: PlaceAnchorProps) {
  return (
    <a
      {...rest}
      className="flex items-center gap-2.5 rounded-md px-2 py-1.5 text-muted hover:bg-hover hover:text-ink aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-accent-strong [&_svg]:size-4 [&_svg]:shrink-0"
    >
      {icon}
      {children}
    </a>
  )
}

const Place = createLink(PlaceAnchor)
