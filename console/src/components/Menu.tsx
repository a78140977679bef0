/** A menu of actions or places behind a button. */

import * as Radix from "@radix-ui/react-dropdown-menu"
import type { ComponentProps, ReactNode } from "react"

import { cn } from "@/components/classes"

interface MenuProps {
  readonly trigger: ReactNode
  readonly align?: "start" | "end"
  readonly children: ReactNode
}

export function Menu({ trigger, align = "end", children }: MenuProps) {
  return (
    // Not modal: a modal menu would lock the page's scrolling with a style element, which the policy refuses.
    <Radix.Root modal={false}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        {/* It stands at the end of the page, outside its landmarks, so it brings its own. */}
        <section aria-label="Menu">
          <Radix.Content
            align={align}
            sideOffset={4}
            collisionPadding={8}
            className="z-50 max-h-(--radix-dropdown-menu-content-available-height) min-w-44 overflow-y-auto rounded-lg border border-line bg-raised p-1 shadow-raised"
          >
            {children}
          </Radix.Content>
        </section>
      </Radix.Portal>
    </Radix.Root>
  )
}

export function MenuItem({ className, ...rest }: ComponentProps<typeof Radix.Item>) {
  return (
    <Radix.Item
      className={cn(
        "flex cursor-pointer items-center gap-2 rounded-md px-2 py-1.5 text-base outline-none select-none data-[disabled]:cursor-not-allowed data-[disabled]:opacity-50 data-[highlighted]:bg-hover [&_svg]:size-4 [&_svg]:text-muted",
        className,
      )}
      {...rest}
    />
  )
}

export function MenuLabel({ children }: { readonly children: ReactNode }) {
  return <Radix.Label className="px-2 py-1.5 text-xs font-medium text-muted">{children}</Radix.Label>
}

export function MenuSeparator() {
  return <Radix.Separator className="my-1 h-px bg-line" />
}
