/** Shown when a screen itself fails; the rest of the Console stays usable. */

import { Link, type ErrorComponentProps } from "@tanstack/react-router"

import { Button } from "@/components/Button"
import { Page } from "@/components/Page"
import { ProblemNotice } from "@/components/Problems"

export function ErrorPage({ error, reset }: ErrorComponentProps) {
  return (
    <Page title="Something went wrong" description="This screen could not be shown.">
      <ProblemNotice
        problem={error}
        onRetry={reset}
        action={
          <Button asChild size="small">
            <Link to="/discover">Go to Discover</Link>
          </Button>
        }
      />
    </Page>
  )
}
