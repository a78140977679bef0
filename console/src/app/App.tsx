/** The providers around all screens: server state, router, tooltips, toasts. */

import { QueryClient, QueryClientProvider } from "@tanstack/react-query"
import { RouterProvider } from "@tanstack/react-router"
import { useEffect, useState } from "react"

import { makeRouter } from "@/app/router"
import { onSessionChange } from "@/api/session"
import { Toasts } from "@/components/Toasts"
import { TooltipProvider } from "@/components/Tooltip"

export function App() {
  const [client] = useState(
    () =>
      new QueryClient({
        // No automatic retry anywhere: a failure is shown with its next action, and people decide.
        // The answer of an action may hold a token or a code: it is gone with the screen that shows it.
        defaultOptions: {
          queries: { retry: false, staleTime: 5_000 },
          mutations: { retry: false, gcTime: 0 },
        },
      }),
  )
  const [router] = useState(() => makeRouter(client))
  useEffect(
    () =>
      onSessionChange(() => {
        // Nothing one caller has read may be shown to the next.
        client.clear()
        void router.invalidate()
      }),
    [client, router],
  )
  return (
    <QueryClientProvider client={client}>
      <TooltipProvider delayDuration={300}>
        <Toasts>
          <RouterProvider router={router} />
        </Toasts>
      </TooltipProvider>
    </QueryClientProvider>
  )
}
