/** A spinner for short waits; the text beside it says what is loading. */

import { LoaderCircle } from "lucide-react"

import { cn } from "@/components/classes"

export function Spinner({ className }: { readonly className?: string }) {
  return <LoaderCircle aria-hidden className={cn("size-4 animate-spin", className)} />
}
