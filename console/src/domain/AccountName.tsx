/** Whose session this is, by the id that the Gateway knows. */

import { useQuery } from "@tanstack/react-query"
import { CircleUser } from "lucide-react"

import { me } from "@/api/queries"
import { cn } from "@/components/classes"

export function AccountName({ className }: { readonly className?: string }) {
  const account = useQuery(me())
  // Nothing else stands in for the id: a page that does not know it says so.
  const name = account.data?.principalId ?? (account.isError ? "Account unknown" : "Loading…")
  return (
    <span className={cn("inline-flex min-w-0 items-center gap-2", className)}>
      <CircleUser aria-hidden className="size-4 shrink-0" />
      <span className="truncate" title={name}>
        {name}
      </span>
    </span>
  )
}
