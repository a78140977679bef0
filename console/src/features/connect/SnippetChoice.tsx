/** From what it is used: every program there is a snippet for, by kind. */

import { getRouteApi, Link } from "@tanstack/react-router"

import { TABLE, type Snippet } from "@/domain/snippets"

const route = getRouteApi("/console/workspaces/$workspaceId/connect")

export function SnippetChoice({ chosen }: { readonly chosen: Snippet }) {
  const { workspaceId } = route.useParams()
  return (
    <nav aria-label="Use it from" className="space-y-3">
      {TABLE.groups.map((group) => (
        <div key={group.name} className="space-y-1.5">
          <h2 className="text-sm font-medium text-muted">{group.label}</h2>
          <ul className="flex flex-wrap gap-1.5">
            {TABLE.snippets
              .filter((snippet) => snippet.group === group.name)
              .map((snippet) => (
                <li key={snippet.name}>
                  <Link
                    to="/workspaces/$workspaceId/connect"
                    params={{ workspaceId }}
                    search={(kept) => ({ ...kept, from: snippet.name })}
                    replace
                    resetScroll={false}
                    aria-current={snippet === chosen ? "page" : undefined}
                    className="block rounded-md border border-line bg-surface px-2.5 py-1 text-sm hover:bg-hover aria-[current]:border-accent aria-[current]:bg-accent-soft aria-[current]:font-medium aria-[current]:text-accent-strong"
                  >
                    {snippet.label}
                  </Link>
                </li>
              ))}
          </ul>
        </div>
      ))}
    </nav>
  )
}
