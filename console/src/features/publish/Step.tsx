/** One step of the path: its number, its state, and what to do. */

import { Check } from "lucide-react"
import type { ReactNode } from "react"

import { cn } from "@/components/classes"
import type { StepState } from "@/features/publish/progress"

interface StepProps {
  readonly number: number
  readonly title: string
  readonly state: StepState
  /** Shown when the step is done. */
  readonly summary?: ReactNode
  /** What to do in this step. */
  readonly children?: ReactNode
}

const STATE_TEXTS = { done: "done", current: "next step", waiting: "later" } as const

export function Step({ number, title, state, summary, children }: StepProps) {
  return (
    <li aria-current={state === "current" ? "step" : undefined} className="relative flex gap-3 pb-6 sm:gap-4">
      <span aria-hidden className="absolute top-8 bottom-1 left-3.5 w-px bg-line [li:last-child>&]:hidden" />
      <span
        aria-hidden
        className={cn(
          "z-10 flex size-7 shrink-0 items-center justify-center rounded-full border text-sm font-semibold",
          state === "done" && "border-transparent bg-ok-soft text-ok",
          state === "current" && "border-accent bg-accent text-on-accent",
          state === "waiting" && "border-line-strong bg-surface text-muted",
        )}
      >
        {state === "done" ? <Check className="size-4" /> : number}
      </span>
      <div className="min-w-0 flex-1 pt-0.5">
        <h2 className={cn("text-lg font-semibold", state === "waiting" && "text-muted")}>
          {title}
          <span className="sr-only">, {STATE_TEXTS[state]}</span>
        </h2>
        {state === "done" && summary ? <div className="mt-1 text-sm text-muted">{summary}</div> : null}
        {state === "current" && children ? <div className="mt-3">{children}</div> : null}
      </div>
    </li>
  )
}
