/** Placeholders of what is being loaded; announced once, as one thing. */

import { cn } from "@/components/classes"

export function Skeleton({ className }: { readonly className?: string }) {
  return <div aria-hidden className={cn("animate-pulse rounded bg-hover", className)} />
}

/** Stands for a list or page while its first answer is on its way. */
export function Loading({ what, rows = 3 }: { readonly what: string; readonly rows?: number }) {
  return (
    <div role="status" aria-label={`Loading ${what}`} className="space-y-3">
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} aria-hidden className="space-y-2.5 rounded-lg border border-line bg-surface p-4">
          <Skeleton className="h-4 w-1/3" />
          <Skeleton className="h-3 w-5/6" />
          <Skeleton className="h-3 w-2/3" />
        </div>
      ))}
    </div>
  )
}
