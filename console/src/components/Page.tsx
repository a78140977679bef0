/** The frame of a screen: its heading, what it is for, its actions; also names the browser tab. */

import { useEffect, type ReactNode } from "react"

import { cn } from "@/components/classes"
import { cleaned } from "@/components/text/hidden"

interface PageProps {
  /** Names the tab, and is the heading unless `heading` says it differently. */
  readonly title: string
  readonly heading?: ReactNode
  readonly above?: ReactNode
  readonly description?: ReactNode
  readonly actions?: ReactNode
  /** `narrow` for a page that stands alone, without the navigation beside it. */
  readonly width?: "wide" | "narrow"
  /** Uses the whole window, and its content the height that is left, where there is room for that. */
  readonly isFull?: boolean
  readonly children: ReactNode
}

const WIDTHS = { narrow: "max-w-5xl", wide: "max-w-7xl" } as const

export function Page(props: PageProps) {
  const { title, heading, above, description, actions, width = "wide", isFull = false, children } = props
  useEffect(() => {
    document.title = `${cleaned(title)} · Agent Operating Platform`
  }, [title])
  return (
    <div
      className={cn(
        "mx-auto w-full px-4 py-6 sm:px-6 lg:px-8",
        isFull
          ? "lg:flex lg:h-[max(100dvh,58rem)] lg:flex-col lg:py-4 xl:h-[max(100dvh,42rem)]"
          : WIDTHS[width],
      )}
    >
      <header
        className={cn("flex flex-wrap items-start justify-between gap-x-6 gap-y-3", isFull ? "mb-3" : "mb-5")}
      >
        <div className="min-w-0 flex-1 basis-72">
          {above ? <div className="mb-1 text-sm text-muted">{above}</div> : null}
          <h1 className="text-xl font-semibold tracking-tight wrap-anywhere">{heading ?? title}</h1>
          {description ? (
            <div className={cn("mt-1 text-muted", isFull || "max-w-3xl")}>{description}</div>
          ) : null}
        </div>
        {actions ? <div className="flex flex-wrap items-center gap-2">{actions}</div> : null}
      </header>
      {isFull ? <div className="lg:min-h-0 lg:flex-1">{children}</div> : children}
    </div>
  )
}
