/** The way from a list to this page: each part but the last is a link. */

import { Children, type ReactNode } from "react"

/** `<Breadcrumbs><Link to="/workspaces">Workspaces</Link><span>demo</span></Breadcrumbs>` */
export function Breadcrumbs({ children }: { readonly children: ReactNode }) {
  return (
    <nav aria-label="Breadcrumbs">
      <ol className="flex flex-wrap items-center gap-x-1.5">
        {Children.toArray(children).map((part, index) => (
          <li
            key={index}
            className="inline-flex min-w-0 items-center gap-1.5 [&_a]:hover:text-accent-strong [&_a]:hover:underline"
          >
            {index === 0 ? null : <span aria-hidden>/</span>}
            {part}
          </li>
        ))}
      </ol>
    </nav>
  )
}
