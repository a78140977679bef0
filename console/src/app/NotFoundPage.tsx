/** Shown for an address the Console does not know. */

import { Link } from "@tanstack/react-router"
import { SearchX } from "lucide-react"

import { Button } from "@/components/Button"
import { EmptyState } from "@/components/EmptyState"
import { Page } from "@/components/Page"

export function NotFoundPage() {
  return (
    <Page title="Page not found">
      <EmptyState
        icon={<SearchX aria-hidden />}
        title="This page does not exist."
        action={
          <Button asChild tone="primary">
            <Link to="/discover">Go to Discover</Link>
          </Button>
        }
      >
        The link may be incomplete or wrong.
      </EmptyState>
    </Page>
  )
}
