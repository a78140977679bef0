/** Switches an Installation to another version: shows the changes, then uninstalls and installs. */

import { TriangleAlert } from "lucide-react"
import { useState } from "react"

import type { AgentCard, CatalogEntry, Installation } from "@/api/contract.gen"
import { Button } from "@/components/Button"
import { Dialog } from "@/components/Dialog"
import { Field, Select } from "@/components/Field"
import { ProblemNotice } from "@/components/Problems"
import { useTell } from "@/components/Toasts"
import { PermissionChoice } from "@/domain/PermissionChoice"
import { VersionDifference } from "@/domain/VersionDifference"
import { carriedOver } from "@/features/workspace/move"
import { useMove } from "@/features/workspace/useMove"

/** An Installation and where it could go. */
export interface PlannedMove {
  readonly installation: Installation
  /** The pinned version; absent when its provider no longer shows it. */
  readonly installed: CatalogEntry | undefined
  readonly choices: ReadonlyArray<CatalogEntry>
  readonly suggested: CatalogEntry | undefined
}

interface MoveDialogProps {
  readonly plan: PlannedMove
  readonly onClose: () => void
}

/** Rendered while open. */
export function MoveDialog({
  plan: { installation, installed, choices, suggested },
  onClose,
}: MoveDialogProps) {
  const [version, setVersion] = useState((suggested ?? choices[0])?.version)
  const target = choices.find((entry) => entry.version === version)
  const [accepted, setAccepted] = useState<ReadonlySet<string>>()
  const move = useMove(installation)
  const tell = useTell()
  if (target === undefined) return null
  const carried = carriedOver(installation, installed?.card, target.card)
  const chosen = accepted ?? carried.accepted
  const { agentId, installedVersion } = installation
  const go = async (to: string, permissions: ReadonlyArray<string>) => {
    if (await move.go(to, permissions)) {
      tell(`${target.card.name} ${to} is installed in ${installation.workspaceId}.`)
      onClose()
    }
  }
  return (
    <Dialog
      open
      width="wide"
      onClose={onClose}
      title={`Switch ${target.card.name} to another version`}
      description={`${agentId} is on ${installedVersion} in ${installation.workspaceId}.`}
      footer={
        <>
          <Button onClick={onClose}>{move.isUninstalled ? "Close" : "Cancel"}</Button>
          {move.isUninstalled ? (
            <Button
              busy={move.isPending}
              onClick={() => void go(installedVersion, installation.acceptedPermissions)}
            >
              Install {installedVersion} again
            </Button>
          ) : null}
          <Button tone="primary" busy={move.isPending} onClick={() => void go(target.version, [...chosen])}>
            {move.isUninstalled ? `Install ${target.version}` : `Switch to ${target.version}`}
          </Button>
        </>
      }
    >
      <div className="space-y-5">
        <Field label="Version" className="w-full sm:w-60">
          {(control) => (
            <Select
              {...control}
              value={target.version}
              disabled={move.isPending}
              onChange={(event) => {
                setVersion(event.target.value)
                setAccepted(undefined)
              }}
            >
              {choices.map((entry) => (
                <option key={entry.version}>{entry.version}</option>
              ))}
            </Select>
          )}
        </Field>
        <Changes installed={installed?.card} target={target.card} />
        <PermissionChoice
          agent={target.card}
          accepted={chosen}
          onChange={setAccepted}
          marks={carried.marks}
        />
        <Consequence installation={installation} />
        {move.problem ? (
          <ProblemNotice
            title={
              move.isUninstalled
                ? `${installedVersion} is uninstalled, and nothing was installed in its place`
                : `Nothing has changed: ${installedVersion} is still installed`
            }
            problem={move.problem}
          />
        ) : null}
      </div>
    </Dialog>
  )
}

function Changes({
  installed,
  target,
}: {
  readonly installed: AgentCard | undefined
  readonly target: AgentCard
}) {
  if (installed === undefined) {
    return (
      <p className="text-sm text-muted">
        The changes cannot be shown, because the provider no longer shows the installed version.
      </p>
    )
  }
  return (
    <section aria-label="What changes">
      <VersionDifference older={installed} newer={target} />
    </section>
  )
}

function Consequence({ installation }: { readonly installation: Installation }) {
  return (
    <div className="flex gap-2.5 rounded-md bg-sunken px-3 py-2 text-sm text-muted">
      <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
      <p>
        An Installation never changes its version. The switch uninstalls{" "}
        <span className="id-text">{installation.installedVersion}</span> and then installs the other one as a
        new Installation. In between, invocations are refused with{" "}
        <span className="id-text">AGENT_NOT_INSTALLED</span>; those already accepted go on.
        {installation.status === "disabled"
          ? " The new Installation is enabled, although this one is not."
          : ""}
      </p>
    </div>
  )
}
