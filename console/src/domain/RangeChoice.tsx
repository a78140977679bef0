/** Chooses a range of time: one of the usual ones, and where it is offered all of it or one of one's own. */

import type { ReactNode } from "react"

import { cn } from "@/components/classes"
import { PRESETS, RANGES, type Preset } from "@/domain/range"

interface RangeChoiceProps {
  readonly value: Preset | undefined
  readonly onChange: (preset: Preset) => void
  /** Further choices beside the usual ones. */
  readonly children?: ReactNode
}

export function RangeChoice({ value, onChange, children }: RangeChoiceProps) {
  return (
    <div
      role="group"
      aria-label="Time"
      className="flex flex-wrap gap-px rounded-md border border-control p-px"
    >
      {PRESETS.map((preset) => (
        <RangeButton key={preset} isOn={value === preset} onClick={() => onChange(preset)}>
          {RANGES[preset].label}
        </RangeButton>
      ))}
      {children}
    </div>
  )
}

interface RangeButtonProps {
  readonly isOn: boolean
  readonly onClick: () => void
  readonly children: ReactNode
}

export function RangeButton({ isOn, onClick, children }: RangeButtonProps) {
  return (
    <button
      type="button"
      aria-pressed={isOn}
      className={cn(
        "h-7 cursor-pointer rounded px-2 text-sm whitespace-nowrap text-muted hover:bg-hover hover:text-ink",
        isOn && "bg-accent-soft font-medium text-accent-strong hover:bg-accent-soft hover:text-accent-strong",
      )}
      onClick={onClick}
    >
      {children}
    </button>
  )
}
