/** The pages and actions that the box offers, with the words by which people look for them. */

import { hasWords } from "@/features/find/meaning"
import type { Go } from "@/features/find/option"

export interface Action {
  readonly title: string
  /** Other words for the same. */
  readonly words: string
  readonly go: Go
}

const EVERYWHERE: ReadonlyArray<Action> = [
  {
    title: "Publish an Agent",
    words: "new register card release version",
    go: (navigate) => navigate({ to: "/publish" }),
  },
  {
    title: "Install an Agent",
    words: "add find",
    go: (navigate) => navigate({ to: "/discover", search: { installable: true } }),
  },
  {
    title: "Create a Workspace",
    words: "new add list",
    go: (navigate) => navigate({ to: "/workspaces" }),
  },
  {
    title: "Discover",
    words: "search find browse agents",
    go: (navigate) => navigate({ to: "/discover" }),
  },
  {
    title: "My Agents",
    words: "own provider releases versions publishing",
    go: (navigate) => navigate({ to: "/my-agents" }),
  },
  {
    title: "Status",
    words: "health figures units uptime failures",
    go: (navigate) => navigate({ to: "/status" }),
  },
  {
    title: "Tokens and sessions",
    words: "account access api key sign in",
    go: (navigate) => navigate({ to: "/tokens" }),
  },
]

function within(workspaceId: string): ReadonlyArray<Action> {
  const params = { workspaceId }
  return [
    {
      title: `Installations in ${workspaceId}`,
      words: "installed agents workspace permissions upgrade",
      go: (navigate) => navigate({ to: "/workspaces/$workspaceId", params }),
    },
    {
      title: `Playground of ${workspaceId}`,
      words: "try run invoke call test",
      go: (navigate) => navigate({ to: "/workspaces/$workspaceId/playground", params }),
    },
    {
      title: `Traces of ${workspaceId}`,
      words: "calls logs history failures slowest",
      go: (navigate) => navigate({ to: "/workspaces/$workspaceId/traces", params }),
    },
    {
      title: `Invocations of ${workspaceId}`,
      words: "calls logs history failures",
      go: (navigate) => navigate({ to: "/workspaces/$workspaceId/invocations", params }),
    },
    {
      title: `Use it from… (${workspaceId})`,
      words: "connect mcp a2a curl python code snippet",
      go: (navigate) => navigate({ to: "/workspaces/$workspaceId/connect", params }),
    },
    {
      title: `People of ${workspaceId}`,
      words: "callers share team members owner",
      go: (navigate) => navigate({ to: "/workspaces/$workspaceId/people", params }),
    },
  ]
}

/** All of them without words. */
export function actionsFor(words: string, workspaceId: string | undefined): ReadonlyArray<Action> {
  const all = workspaceId === undefined ? EVERYWHERE : [...EVERYWHERE, ...within(workspaceId)]
  return words === "" ? all : all.filter((action) => hasWords(`${action.title} ${action.words}`, words))
}
