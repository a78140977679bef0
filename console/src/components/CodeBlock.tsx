/** Text to be read or pasted as it is, with a copy button. */

import { CopyButton } from "@/components/CopyButton"
import { cn } from "@/components/classes"

interface CodeBlockProps {
  readonly code: string
  /** What it is, for its name and the copy button: "curl command". */
  readonly what: string
  readonly wrap?: boolean
  readonly className?: string
}

export function CodeBlock({ code, what, wrap = false, className }: CodeBlockProps) {
  return (
    <div className={cn("relative rounded-md border border-line bg-sunken", className)}>
      <pre
        // A region that scrolls must be reachable with the keyboard.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        role="region"
        aria-label={what}
        className={cn(
          "max-h-[28rem] overflow-auto p-3 pr-11 font-mono text-xs leading-5",
          wrap ? "break-words whitespace-pre-wrap" : "whitespace-pre",
        )}
      >
        {code}
      </pre>
      <CopyButton text={code} what={what} className="absolute top-1.5 right-1.5 bg-sunken" />
    </div>
  )
}
