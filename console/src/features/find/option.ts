/** One line of the box: what it is, and where it leads. */

import type { useNavigate } from "@tanstack/react-router"

type Navigate = ReturnType<typeof useNavigate>

/** `(navigate) => navigate({ to: "/publish" })`: written so that the router checks the address. */
export type Go = (navigate: Navigate) => Promise<void>

export type Kind = "action" | "agent" | "workspace" | "record" | "search"

export interface Option {
  readonly key: string
  readonly kind: Kind
  readonly title: string
  readonly detail?: string
  /** A state beside the title: "Installed 1.0.0". */
  readonly mark?: string
  readonly go: Go
}

/** What one source has for the text. */
export interface Results {
  readonly heading: string
  readonly options: ReadonlyArray<Option>
  readonly isBusy?: boolean
  /** Said when it has nothing: where it looked. */
  readonly note?: string
  readonly problem?: unknown
}
