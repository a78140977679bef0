/** The one button of the Console, and the same look for a link. */

import { Slot } from "@radix-ui/react-slot"
import { cva, type VariantProps } from "class-variance-authority"
import type { ComponentProps, ReactNode } from "react"

import { cn } from "@/components/classes"
import { Spinner } from "@/components/Spinner"

const look = cva(
  "inline-flex shrink-0 cursor-pointer items-center justify-center gap-1.5 rounded-md font-medium whitespace-nowrap transition-colors select-none disabled:cursor-not-allowed disabled:opacity-55 aria-disabled:cursor-not-allowed [&_svg]:size-4 [&_svg]:shrink-0",
  {
    variants: {
      tone: {
        primary: "bg-accent text-on-accent hover:bg-accent-strong",
        plain: "border border-line-strong bg-surface text-ink hover:bg-hover",
        quiet: "text-muted hover:bg-hover hover:text-ink",
        danger: "border border-bad bg-surface text-bad hover:bg-bad-soft",
      },
      size: { small: "h-7 px-2 text-sm", normal: "h-8 px-3 text-base", icon: "size-8", iconSmall: "size-7" },
    },
    defaultVariants: { tone: "plain", size: "normal" },
  },
)

interface ButtonProps extends ComponentProps<"button">, VariantProps<typeof look> {
  /** Renders its only child, a link for instance, with the look of a button. */
  readonly asChild?: boolean
  /** Work is going on: the button shows it and cannot be pressed again. */
  readonly busy?: boolean
  readonly children?: ReactNode
}

export function Button({
  tone,
  size,
  asChild = false,
  busy = false,
  className,
  children,
  ...rest
}: ButtonProps) {
  const classes = cn(look({ tone, size }), className)
  if (asChild) {
    return (
      <Slot className={classes} {...rest}>
        {children}
      </Slot>
    )
  }
  return (
    <button
      type="button"
      className={classes}
      aria-busy={busy || undefined}
      {...rest}
      disabled={busy || rest.disabled}
    >
      {busy ? <Spinner /> : null}
      {children}
    </button>
  )
}
