/** Enable, disable, uninstall: each says what it will do before it does it. */

import { Power, PowerOff, Trash2 } from "lucide-react"
import { useState, type ReactNode } from "react"

import type { Installation } from "@/api/contract.gen"
import { useAction } from "@/api/queries"
import { Button } from "@/components/Button"
import { ConfirmDialog } from "@/components/ConfirmDialog"
import { useTell } from "@/components/Toasts"

type Act = "enable" | "disable" | "uninstall"

interface InstallationActionsProps {
  readonly installation: Installation
  readonly name: string
}

export function InstallationActions({ installation, name }: InstallationActionsProps) {
  const [asked, setAsked] = useState<Act>()
  const toggle: Act = installation.status === "enabled" ? "disable" : "enable"
  return (
    <>
      <Button size="small" onClick={() => setAsked(toggle)}>
        {toggle === "disable" ? <PowerOff aria-hidden /> : <Power aria-hidden />}
        {ACTS[toggle].label}
      </Button>
      <Button
        size="iconSmall"
        tone="quiet"
        aria-label={`Uninstall ${name}`}
        title="Uninstall"
        onClick={() => setAsked("uninstall")}
      >
        <Trash2 aria-hidden />
      </Button>
      {asked === undefined ? null : (
        <Confirmed act={asked} installation={installation} name={name} onClose={() => setAsked(undefined)} />
      )}
    </>
  )
}

interface ConfirmedProps extends InstallationActionsProps {
  readonly act: Act
  readonly onClose: () => void
}

function Confirmed({ act, installation, name, onClose }: ConfirmedProps) {
  const { workspaceId, installationId } = installation
  const path = { workspaceId, installationId }
  const update = useAction("updateInstallation", ["listInstallations"])
  const uninstall = useAction("uninstallAgent", ["listInstallations"])
  const tell = useTell()
  const { label, done, consequence } = ACTS[act]
  const finish = () => {
    tell(`${name} is ${done}.`)
    onClose()
  }
  const confirm = () => {
    if (act === "uninstall") uninstall.mutate({ path }, { onSuccess: finish })
    else
      update.mutate(
        { path, body: { status: act === "enable" ? "enabled" : "disabled" } },
        { onSuccess: finish },
      )
  }
  return (
    <ConfirmDialog
      open
      title={`${label} ${name} ${installation.installedVersion}?`}
      action={label}
      danger={act !== "enable"}
      busy={update.isPending || uninstall.isPending}
      problem={update.error ?? uninstall.error}
      onConfirm={confirm}
      onClose={onClose}
    >
      {consequence(installation)}
    </ConfirmDialog>
  )
}

interface Words {
  readonly label: string
  readonly done: string
  readonly consequence: (installation: Installation) => ReactNode
}

const ACTS: Readonly<Record<Act, Words>> = {
  enable: {
    label: "Enable",
    done: "enabled",
    consequence: ({ agentId, installedVersion, acceptedPermissions, workspaceId }) => (
      <p>
        Invocations of <Id>{agentId}</Id> in <Id>{workspaceId}</Id> are accepted again: exactly version{" "}
        <Id>{installedVersion}</Id>,{" "}
        {acceptedPermissions.length === 0 ? (
          "without any permission."
        ) : (
          <>
            with the permissions accepted before: <Id>{acceptedPermissions.join(", ")}</Id>.
          </>
        )}
      </p>
    ),
  },
  disable: {
    label: "Disable",
    done: "disabled",
    consequence: ({ agentId, workspaceId }) => (
      <>
        <p>
          New invocations of <Id>{agentId}</Id> in <Id>{workspaceId}</Id> are refused with{" "}
          <Id>INSTALLATION_DISABLED</Id>, also those that other Agents make. Invocations already accepted go
          on.
        </p>
        <p>The version and the accepted permissions are kept. You can enable it again at any time.</p>
      </>
    ),
  },
  uninstall: {
    label: "Uninstall",
    done: "uninstalled",
    consequence: ({ agentId, workspaceId }) => (
      <>
        <p>
          New invocations of <Id>{agentId}</Id> in <Id>{workspaceId}</Id> are refused with{" "}
          <Id>AGENT_NOT_INSTALLED</Id>, also those that other Agents make. Invocations already accepted go on.
        </p>
        <p>
          This Installation cannot be brought back; its record stays in the history. Installing the Agent
          again makes a new one, and asks for the permissions again.
        </p>
      </>
    ),
  },
}

function Id({ children }: { readonly children: ReactNode }) {
  return <span className="id-text font-medium">{children}</span>
}
