/** An identifier or digest in its own type, shortened when long, with a button that copies the whole of it. */

import { shortened } from "@/components/format"
import { CopyButton } from "@/components/CopyButton"

interface IdentifierProps {
  readonly value: string
  /** What it is, for the copy button: "Release id". */
  readonly what: string
  readonly whole?: boolean
}

export function Identifier({ value, what, whole = false }: IdentifierProps) {
  return (
    <span className="inline-flex max-w-full items-center gap-0.5">
      <span className="id-text" title={value}>
        {whole ? value : shortened(value)}
      </span>
      <CopyButton text={value} what={what} className="size-6 [&_svg]:size-3.5" />
    </span>
  )
}
