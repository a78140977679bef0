/** The router with the Console's URL form; registers its type so that every link is checked. */

import type { QueryClient } from "@tanstack/react-query"
import { createRouter } from "@tanstack/react-router"

import { ErrorPage } from "@/app/ErrorPage"
import { NotFoundPage } from "@/app/NotFoundPage"
import { routeTree } from "@/app/routes"
import { Loading } from "@/components/Skeleton"
import { parseSearch, stringifySearch } from "@/config/urlState"

export function makeRouter(client: QueryClient) {
  return createRouter({
    routeTree,
    context: { client },
    parseSearch,
    stringifySearch,
    defaultPreload: "intent",
    defaultPreloadStaleTime: 0,
    scrollRestoration: true,
    pathParamsAllowedCharacters: [":", "@", "+"],
    defaultErrorComponent: ErrorPage,
    defaultNotFoundComponent: NotFoundPage,
    defaultPendingComponent: () => (
      <div className="mx-auto max-w-5xl px-4 py-6 sm:px-6 lg:px-8">
        <Loading what="the page" />
      </div>
    ),
  })
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof makeRouter>
  }
}
