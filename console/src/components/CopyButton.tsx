/** Copies a text; says so, also to those who cannot see the mark change. */

import { Check, Copy } from "lucide-react"
import { useEffect, useState } from "react"

import { Button } from "@/components/Button"

interface CopyButtonProps {
  readonly text: string
  /** What is copied, for its name: "Copy digest". */
  readonly what: string
  readonly withLabel?: boolean
  readonly className?: string
}

export function CopyButton({ text, what, withLabel = false, className }: CopyButtonProps) {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return undefined
    const timer = setTimeout(() => setCopied(false), 1600)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = () => {
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => setCopied(false),
    )
  }
  const label = copied ? "Copied" : `Copy ${what}`
  return (
    <Button
      tone={withLabel ? "plain" : "quiet"}
      size={withLabel ? "small" : "iconSmall"}
      className={className}
      onClick={copy}
      aria-label={withLabel ? undefined : label}
      title={label}
    >
      {copied ? <Check aria-hidden className="text-ok" /> : <Copy aria-hidden />}
      {withLabel ? label : null}
      <span role="status" className="sr-only">
        {copied ? "Copied" : ""}
      </span>
    </Button>
  )
}
