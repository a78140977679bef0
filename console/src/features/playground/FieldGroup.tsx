/** The head of a group of fields, and what the Gateway said about the group itself. */

import type { ReactNode } from "react"

import { useInputForm } from "@/features/playground/formContext"
import { ViolationTexts } from "@/components/ViolationText"

interface GroupHeadProps {
  readonly id: string
  readonly label: string
  readonly required: boolean
  readonly hint: string | undefined
  readonly children?: ReactNode
}

export function GroupHead({ id, label, required, hint, children }: GroupHeadProps) {
  return (
    <div className="flex items-start justify-between gap-2">
      <div className="min-w-0">
        <p id={id} className="text-sm font-medium">
          {label}
          {required ? <span className="text-muted"> (required)</span> : null}
        </p>
        {hint ? <p className="text-xs text-muted">{hint}</p> : null}
      </div>
      {children}
    </div>
  )
}

export function OwnViolations({ pointer }: { readonly pointer: string }) {
  const own = useInputForm().violations.get(pointer)
  if (own === undefined) return null
  return (
    <p role="alert" className="text-xs font-medium text-bad">
      <ViolationTexts violations={own} />
    </p>
  )
}
