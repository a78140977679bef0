/** A titled box on a page; the title is a heading, so that a page can be read by its outline. */

import { useId, type ReactNode } from "react"

import { cn } from "@/components/classes"

interface PanelProps {
  readonly title?: ReactNode
  /** Its name where the title alone may stand on the page twice. */
  readonly label?: string
  readonly description?: ReactNode
  readonly actions?: ReactNode
  readonly padded?: boolean
  readonly className?: string
  readonly children: ReactNode
}

export function Panel({
  title,
  label,
  description,
  actions,
  padded = true,
  className,
  children,
}: PanelProps) {
  const heading = useId()
  return (
    <section
      aria-label={label}
      aria-labelledby={title && label === undefined ? heading : undefined}
      className={cn("min-w-0 overflow-clip rounded-lg border border-line bg-surface", className)}
    >
      {title ? (
        <div className="flex flex-wrap items-center justify-between gap-2 border-b border-line px-4 py-2.5">
          <div className="min-w-0">
            <h2 id={heading} className="text-base font-semibold">
              {title}
            </h2>
            {description ? <p className="text-sm wrap-anywhere text-muted">{description}</p> : null}
          </div>
          {actions ? <div className="flex flex-wrap items-center gap-2">{actions}</div> : null}
        </div>
      ) : null}
      <div className={padded ? "p-4" : undefined}>{children}</div>
    </section>
  )
}
