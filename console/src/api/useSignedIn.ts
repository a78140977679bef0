/** Whether a token is there, as React state. */

import { useSyncExternalStore } from "react"

import { onSessionChange, token } from "@/api/session"

export function useSignedIn(): boolean {
  return useSyncExternalStore(onSessionChange, () => token() !== undefined)
}
