/** Upgrades an Installation to another version in one step: shows the changes, asks for the permissions, replaces. */

import { Info } from "lucide-react"
import { useState } from "react"

import type { AgentCard } from "@/api/contract.gen"
import { useAction } from "@/api/queries"
import { Button } from "@/components/Button"
import { Dialog } from "@/components/Dialog"
import { Field, Select } from "@/components/Field"
import { ProblemNotice } from "@/components/Problems"
import { useTell } from "@/components/Toasts"
import { PermissionChoice } from "@/domain/PermissionChoice"
import { VersionDifference } from "@/domain/VersionDifference"
import { carriedOver } from "@/domain/carriedOver"
import type { PlannedUpgrade } from "@/domain/upgrade"

interface UpgradeDialogProps {
  readonly plan: PlannedUpgrade
  readonly onClose: () => void
}

/** Rendered while open. */
export function UpgradeDialog({
  plan: { installation, installed, choices, suggested },
  onClose,
}: UpgradeDialogProps) {
  const [version, setVersion] = useState(suggested?.version)
  const target = choices.find((entry) => entry.version === version) ?? choices[0]
  const [accepted, setAccepted] = useState<ReadonlySet<string>>()
  const replace = useAction("installAgent", ["listInstallations"])
  const tell = useTell()
  if (target === undefined) return null
  const carried = carriedOver(installation, installed?.card, target.card)
  const chosen = accepted ?? carried.accepted
  const { agentId, installedVersion, workspaceId, installationId } = installation
  const go = () => {
    const body = {
      agentId,
      versionConstraint: target.version,
      acceptedPermissions: [...chosen],
      replaces: installationId,
    }
    const onSuccess = () => {
      tell(`${target.card.name} ${target.version} is installed in ${workspaceId}.`)
      onClose()
    }
    replace.mutate({ path: { workspaceId }, body }, { onSuccess })
  }
  return (
    <Dialog
      open
      width="wide"
      onClose={onClose}
      title={`Change ${target.card.name}`}
      description={`${agentId} is on ${installedVersion} in ${workspaceId}.`}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="primary" busy={replace.isPending} onClick={go}>
            {target.version === installedVersion ? "Change the permissions" : `Change to ${target.version}`}
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
              disabled={replace.isPending}
              onChange={(event) => {
                setVersion(event.target.value)
                setAccepted(undefined)
                replace.reset()
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
        <Consequence installedVersion={installedVersion} />
        {replace.isError ? (
          <ProblemNotice title={`${target.version} was not installed`} problem={replace.error} />
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

function Consequence({ installedVersion }: { readonly installedVersion: string }) {
  return (
    <div className="flex gap-2.5 rounded-md bg-sunken px-3 py-2 text-sm text-muted">
      <Info aria-hidden className="mt-0.5 size-4 shrink-0" />
      <p>
        One step replaces the Installation: no call is refused in between. Calls that were authorized before
        still run on <span className="id-text">{installedVersion}</span>. The old Installation stays in the
        history.
      </p>
    </div>
  )
}
