/** Several views of one thing, one at a time. */

import * as Radix from "@radix-ui/react-tabs"
import type { ReactNode } from "react"

import { cn } from "@/components/classes"

export interface Tab<Name extends string> {
  readonly name: Name
  readonly label: ReactNode
  readonly content: ReactNode
}

interface TabsProps<Name extends string> {
  readonly label: string
  readonly tabs: ReadonlyArray<Tab<Name>>
  /** Which is shown; without it the tabs keep that to themselves. */
  readonly value?: Name
  readonly onChange?: (name: Name) => void
  /** Takes the height that it is given, where there is room for that. */
  readonly isFull?: boolean
}

export function Tabs<Name extends string>({ label, tabs, value, onChange, isFull = false }: TabsProps<Name>) {
  return (
    <Radix.Root
      className={cn(isFull && "lg:flex lg:h-full lg:flex-col")}
      value={value}
      defaultValue={value === undefined ? tabs[0]?.name : undefined}
      onValueChange={(name) => onChange?.(name as Name)}
    >
      <Radix.List
        aria-label={label}
        className="mb-4 flex shrink-0 gap-1 overflow-x-auto border-b border-line"
      >
        {tabs.map((tab) => (
          <Radix.Trigger
            key={tab.name}
            value={tab.name}
            className="-mb-px cursor-pointer border-b-2 border-transparent px-2.5 py-2 text-base whitespace-nowrap text-muted hover:text-ink focus-visible:-outline-offset-2 data-[state=active]:border-accent data-[state=active]:font-medium data-[state=active]:text-ink sm:px-3"
          >
            {tab.label}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map((tab) => (
        <Radix.Content
          key={tab.name}
          value={tab.name}
          tabIndex={-1}
          className={cn("outline-none", isFull && "lg:min-h-0 lg:flex-1")}
        >
          {tab.content}
        </Radix.Content>
      ))}
    </Radix.Root>
  )
}
