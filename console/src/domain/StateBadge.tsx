/** The states of the specification, each with its one label and tone everywhere. */

import type {
  CatalogEntryPublicationStatus,
  EndpointBindingVerificationStatus,
  InstallationStatus,
  InvocationRecordStatus,
  ReleaseState,
} from "@/api/contract.gen"
import { Badge, type Tone } from "@/components/Badge"

export type State =
  | CatalogEntryPublicationStatus
  | EndpointBindingVerificationStatus
  | InstallationStatus
  | InvocationRecordStatus
  | ReleaseState
  | "interrupted"

const STATES: Readonly<Record<State, { label: string; tone: Tone }>> = {
  draft: { label: "Draft", tone: "neutral" },
  pending: { label: "Pending", tone: "neutral" },
  pending_verification: { label: "Pending verification", tone: "warn" },
  verified: { label: "Verified", tone: "ok" },
  published: { label: "Published", tone: "ok" },
  suspended: { label: "Suspended", tone: "warn" },
  revoked: { label: "Revoked", tone: "bad" },
  enabled: { label: "Enabled", tone: "ok" },
  disabled: { label: "Disabled", tone: "warn" },
  uninstalled: { label: "Uninstalled", tone: "neutral" },
  routing: { label: "Routing", tone: "accent" },
  running: { label: "Running", tone: "accent" },
  succeeded: { label: "Succeeded", tone: "ok" },
  failed: { label: "Failed", tone: "bad" },
  canceled: { label: "Canceled", tone: "note" },
  timed_out: { label: "Timed out", tone: "warn" },
  interrupted: { label: "Interrupted", tone: "bad" },
}

export function stateLabel(state: State): string {
  return STATES[state].label
}

export function StateBadge({ state, title }: { readonly state: State; readonly title?: string }) {
  return (
    <Badge tone={STATES[state].tone} title={title}>
      {STATES[state].label}
    </Badge>
  )
}
