/** Every address of the Console: who may open it, what its URL says, which screen it shows. */

import type { QueryClient } from "@tanstack/react-query"
import {
  createRootRouteWithContext,
  createRoute,
  lazyRouteComponent,
  Outlet,
  redirect,
} from "@tanstack/react-router"

import { NotFoundPage } from "@/app/NotFoundPage"
import { Shell } from "@/app/Shell"
import { token } from "@/api/session"
import { ownPath } from "@/config/urlState"
import { agentSearch } from "@/features/agent/search"
import { connectSearch } from "@/features/connect/search"
import { discoverSearch } from "@/features/discover/search"
import { listSearch } from "@/features/invocations/search"
import { myAgentsSearch } from "@/features/my-agents/search"
import { playgroundSearch } from "@/features/playground/search"
import { publishSearch } from "@/features/publish/search"
import { statusSearch } from "@/features/status/search"
import { traceSearch } from "@/features/trace/search"
import { workspaceSearch } from "@/features/workspace/search"

const root = createRootRouteWithContext<{ client: QueryClient }>()({ component: Outlet })

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: (search: Record<string, unknown>): { next?: string } => ({ next: ownPath(search["next"]) }),
  component: lazyRouteComponent(() => import("@/features/sign-in/SignInPage"), "SignInPage"),
})

const share = createRoute({
  getParentRoute: () => root,
  path: "/a/$publicAgentId",
  component: lazyRouteComponent(() => import("@/features/share/SharePage"), "SharePage"),
})

/** The screens behind the sign-in, inside the navigation. */
const shell = createRoute({
  getParentRoute: () => root,
  id: "console",
  beforeLoad: ({ location }) => {
    if (token() === undefined)
      throw redirect({ to: "/sign-in", search: { next: ownPath(location.href) }, replace: true })
  },
  component: Shell,
})

const home = createRoute({
  getParentRoute: () => shell,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/discover", replace: true })
  },
})

const discover = createRoute({
  getParentRoute: () => shell,
  path: "/discover",
  validateSearch: discoverSearch,
  component: lazyRouteComponent(() => import("@/features/discover/DiscoverPage"), "DiscoverPage"),
})

const agent = createRoute({
  getParentRoute: () => shell,
  path: "/agents/$agentId",
  validateSearch: agentSearch,
  component: lazyRouteComponent(() => import("@/features/agent/AgentPage"), "AgentPage"),
})

const publish = createRoute({
  getParentRoute: () => shell,
  path: "/publish",
  validateSearch: publishSearch,
  component: lazyRouteComponent(() => import("@/features/publish/PublishPage"), "PublishPage"),
})

const myAgents = createRoute({
  getParentRoute: () => shell,
  path: "/my-agents",
  validateSearch: myAgentsSearch,
  component: lazyRouteComponent(() => import("@/features/my-agents/MyAgentsPage"), "MyAgentsPage"),
})

const release = createRoute({
  getParentRoute: () => shell,
  path: "/releases/$releaseId",
  component: lazyRouteComponent(() => import("@/features/release/ReleasePage"), "ReleasePage"),
})

const workspaces = createRoute({
  getParentRoute: () => shell,
  path: "/workspaces",
  component: lazyRouteComponent(() => import("@/features/workspace/WorkspacesPage"), "WorkspacesPage"),
})

const workspace = createRoute({
  getParentRoute: () => shell,
  path: "/workspaces/$workspaceId",
  validateSearch: workspaceSearch,
  component: lazyRouteComponent(() => import("@/features/workspace/WorkspacePage"), "WorkspacePage"),
})

const playground = createRoute({
  getParentRoute: () => shell,
  path: "/workspaces/$workspaceId/playground",
  validateSearch: playgroundSearch,
  component: lazyRouteComponent(() => import("@/features/playground/PlaygroundPage"), "PlaygroundPage"),
})

const connect = createRoute({
  getParentRoute: () => shell,
  path: "/workspaces/$workspaceId/connect",
  validateSearch: connectSearch,
  component: lazyRouteComponent(() => import("@/features/connect/ConnectPage"), "ConnectPage"),
})

const invocations = createRoute({
  getParentRoute: () => shell,
  path: "/workspaces/$workspaceId/invocations",
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import("@/features/invocations/InvocationsPage"), "InvocationsPage"),
})

const invocation = createRoute({
  getParentRoute: () => shell,
  path: "/workspaces/$workspaceId/invocations/$invocationId",
  component: lazyRouteComponent(() => import("@/features/invocations/InvocationPage"), "InvocationPage"),
})

const people = createRoute({
  getParentRoute: () => shell,
  path: "/workspaces/$workspaceId/people",
  component: lazyRouteComponent(() => import("@/features/people/PeoplePage"), "PeoplePage"),
})

const traces = createRoute({
  getParentRoute: () => shell,
  path: "/workspaces/$workspaceId/traces",
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import("@/features/invocations/TracesPage"), "TracesPage"),
})

const trace = createRoute({
  getParentRoute: () => shell,
  path: "/workspaces/$workspaceId/traces/$traceId",
  validateSearch: traceSearch,
  component: lazyRouteComponent(() => import("@/features/trace/TracePage"), "TracePage"),
})

const status = createRoute({
  getParentRoute: () => shell,
  path: "/status",
  validateSearch: statusSearch,
  component: lazyRouteComponent(() => import("@/features/status/StatusPage"), "StatusPage"),
})

const tokens = createRoute({
  getParentRoute: () => shell,
  path: "/tokens",
  component: lazyRouteComponent(() => import("@/features/tokens/TokensPage"), "TokensPage"),
})

/** Where `aop login --browser` sends people. */
const signInCode = createRoute({
  getParentRoute: () => shell,
  path: "/sign-in-code",
  component: lazyRouteComponent(() => import("@/features/tokens/SignInCodePage"), "SignInCodePage"),
})

/** Any other address, shown with the navigation around it. */
const unknown = createRoute({ getParentRoute: () => shell, path: "$", component: NotFoundPage })

export const routeTree = root.addChildren([
  signIn,
  share,
  shell.addChildren([
    home,
    discover,
    agent,
    publish,
    myAgents,
    release,
    workspaces,
    workspace,
    playground,
    connect,
    invocations,
    invocation,
    people,
    traces,
    trace,
    status,
    tokens,
    signInCode,
    unknown,
  ]),
])
