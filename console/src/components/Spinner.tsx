/** A turning mark for short waits; what is waited for is said by the text beside it. */

import { LoaderCircle } from "lucide-react"

import { cn } from "@/components/classes"

export function Spinner({ className }: { readonly className?: string }) {
  return <LoaderCircle aria-hidden className={cn("size-4 animate-spin", className)} />
}
