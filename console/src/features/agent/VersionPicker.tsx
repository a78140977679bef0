/** Chooses one of an Agent's versions. */

import type { CatalogEntry } from "@/api/contract.gen"
import { Select } from "@/components/Field"
import { stateLabel } from "@/domain/StateBadge"

interface VersionPickerProps {
  readonly label: string
  readonly versions: ReadonlyArray<CatalogEntry>
  readonly value: string
  readonly onChange: (version: string) => void
}

export function VersionPicker({ label, versions, value, onChange }: VersionPickerProps) {
  return (
    <Select
      aria-label={label}
      value={value}
      className="w-auto max-w-60"
      onChange={(event) => onChange(event.target.value)}
    >
      {versions.map((entry) => (
        <option key={entry.version} value={entry.version}>
          {entry.version} · {stateLabel(entry.release?.state ?? entry.publicationStatus)}
        </option>
      ))}
    </Select>
  )
}
