/** A small labelled state; the tone repeats what the text says and never replaces it. */

import type { ReactNode } from "react"

import { cn } from "@/components/classes"

export type Tone = "neutral" | "ok" | "warn" | "bad" | "note" | "accent"

const TONES: Readonly<Record<Tone, string>> = {
  neutral: "border-line bg-sunken text-muted",
  ok: "border-transparent bg-ok-soft text-ok",
  warn: "border-transparent bg-warn-soft text-warn",
  bad: "border-transparent bg-bad-soft text-bad",
  note: "border-transparent bg-note-soft text-note",
  accent: "border-transparent bg-accent-soft text-accent-strong",
}

interface BadgeProps {
  readonly tone?: Tone
  readonly icon?: ReactNode
  readonly title?: string
  readonly className?: string
  readonly children: ReactNode
}

export function Badge({ tone = "neutral", icon, title, className, children }: BadgeProps) {
  return (
    <span
      title={title}
      className={cn(
        "inline-flex h-5 max-w-full items-center gap-1 rounded-full border px-2 text-xs font-medium tracking-normal whitespace-nowrap [&_svg]:size-3 [&_svg]:shrink-0",
        TONES[tone],
        className,
      )}
    >
      {icon}
      <span className="truncate">{children}</span>
    </span>
  )
}
