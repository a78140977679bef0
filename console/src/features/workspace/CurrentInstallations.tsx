/** What is installed now, by name, compact; with a filter once there are many. */

import { Link } from "@tanstack/react-router"
import { Boxes } from "lucide-react"
import { useState } from "react"

import type { InstallationItem } from "@/api/contract.gen"
import { Button } from "@/components/Button"
import { EmptyState } from "@/components/EmptyState"
import { TextInput } from "@/components/Field"
import { InstallationRow } from "@/features/workspace/InstallationRow"

/** As many as one screen shows. */
const WITHOUT_FILTER = 12

interface CurrentInstallationsProps {
  readonly installations: ReadonlyArray<InstallationItem>
  /** The Agent whose Installation is marked. */
  readonly marked: string | undefined
  /** Absent for callers. */
  readonly onUpgrade: ((installation: InstallationItem) => void) | undefined
}

export function CurrentInstallations({ installations, marked, onUpgrade }: CurrentInstallationsProps) {
  const [typed, setTyped] = useState("")
  if (installations.length === 0) return <NothingInstalled mayInstall={onUpgrade !== undefined} />
  const shown = [...installations]
    .filter((each) => isMeant(each, typed))
    .sort((one, other) => one.agentName.localeCompare(other.agentName, "en"))
  return (
    <div className="space-y-3">
      {installations.length > WITHOUT_FILTER ? (
        <TextInput
          type="search"
          aria-label="Filter Installations"
          placeholder="Filter by name, id or Skill"
          className="sm:w-80"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      ) : null}
      {shown.length === 0 ? (
        <p className="text-sm text-muted">No Installation matches.</p>
      ) : (
        <ul className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface">
          {shown.map((installation) => (
            <li key={installation.installationId}>
              <InstallationRow
                installation={installation}
                isMarked={installation.agentId === marked}
                onUpgrade={onUpgrade}
              />
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

function isMeant({ agentId, agentName, skills }: InstallationItem, typed: string): boolean {
  const text = [agentId, agentName, ...skills.flatMap(({ id, name }) => [id, name])].join(" ").toLowerCase()
  return text.includes(typed.trim().toLowerCase())
}

function NothingInstalled({ mayInstall }: { readonly mayInstall: boolean }) {
  return (
    <EmptyState
      icon={<Boxes aria-hidden />}
      title="Nothing is installed here."
      action={
        mayInstall ? (
          <Button asChild tone="primary">
            <Link to="/discover" search={{ installable: true }}>
              Find an Agent
            </Link>
          </Button>
        ) : undefined
      }
    >
      {mayInstall
        ? "Find an Agent that can do what you need, look at what it asks for, and install it into this Workspace."
        : "Its owner installs Agents; then you can call them."}
    </EmptyState>
  )
}
