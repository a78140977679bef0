/** What one can do with the shown version: install it, or try and upgrade what the open Workspace has. */

import { getRouteApi, Link } from "@tanstack/react-router"
import { CircleArrowUp } from "lucide-react"

import type { AgentOverview, CatalogEntry, InstallationItem } from "@/api/contract.gen"
import { Button } from "@/components/Button"
import { TryIt } from "@/domain/AlreadyInstalled"
import { InstallDialog } from "@/domain/InstallDialog"
import { UpgradeDialog } from "@/domain/UpgradeDialog"
import { canBeTried, type OpenWorkspace } from "@/domain/installed"
import { plannedUpgrade } from "@/domain/upgrade"
import { isUpgrade } from "@/domain/versions"
import { VersionPicker } from "@/features/agent/VersionPicker"
import type { AgentSearch } from "@/features/agent/search"

const route = getRouteApi("/console/agents/$agentId")

interface AgentActionsProps {
  readonly agent: AgentOverview
  readonly entry: CatalogEntry
  readonly workspace: OpenWorkspace
}

export function AgentActions({ agent, entry, workspace }: AgentActionsProps) {
  const { open } = route.useSearch()
  const navigate = route.useNavigate()
  const change = (next: AgentSearch) =>
    void navigate({ search: (kept) => ({ ...kept, ...next }), replace: true, resetScroll: false })
  const installation = workspace.installationOf(agent.agentId)
  const close = () => change({ open: undefined })
  return (
    <>
      <VersionPicker
        label="Version"
        versions={agent.versions}
        value={entry.version}
        onChange={(version) => change({ version })}
      />
      {installation === undefined ? (
        <InstallButton
          entry={entry}
          isPrimary
          isPending={workspace.isPending}
          onPress={() => change({ open: "install" })}
        />
      ) : (
        <InstalledActions
          agent={agent}
          entry={entry}
          installation={installation}
          isOwner={workspace.isOwner}
          onOpen={(dialog) => change({ open: dialog })}
        />
      )}
      {open === "install" && entry.installable ? (
        <InstallDialog
          agent={{ ...entry.card, agentId: agent.agentId, version: entry.version }}
          onClose={close}
        />
      ) : null}
      {open === "upgrade" && installation?.status === "enabled" && workspace.isOwner ? (
        <UpgradeDialog
          key={installation.installationId}
          plan={plannedUpgrade(installation, agent.versions)}
          onClose={close}
        />
      ) : null}
    </>
  )
}

interface InstallButtonProps {
  readonly entry: CatalogEntry
  readonly isPrimary: boolean
  readonly isPending?: boolean
  readonly onPress: () => void
}

function InstallButton({ entry, isPrimary, isPending = false, onPress }: InstallButtonProps) {
  return (
    <Button
      tone={isPrimary ? "primary" : "quiet"}
      disabled={!entry.installable || isPending}
      title={entry.installable ? undefined : "Only a version with a published Release can be installed."}
      onClick={onPress}
    >
      {isPrimary ? "Install" : "Install elsewhere…"}
    </Button>
  )
}

interface InstalledActionsProps {
  readonly agent: AgentOverview
  readonly entry: CatalogEntry
  readonly installation: InstallationItem
  readonly isOwner: boolean
  readonly onOpen: (dialog: AgentSearch["open"]) => void
}

function InstalledActions({ agent, entry, installation, isOwner, onOpen }: InstalledActionsProps) {
  const { workspaceId, agentId, installedVersion, status } = installation
  const { suggested } = plannedUpgrade(installation, agent.versions)
  const newer = suggested && isUpgrade(installedVersion, suggested.version) ? suggested.version : undefined
  const upgrades = newer !== undefined && isOwner && status === "enabled"
  return (
    <>
      {upgrades ? (
        <Button tone="primary" onClick={() => onOpen("upgrade")}>
          <CircleArrowUp aria-hidden />
          Upgrade to {newer}
        </Button>
      ) : null}
      {canBeTried(installation) ? (
        <TryIt
          workspaceId={workspaceId}
          agentId={agentId}
          size="normal"
          tone={upgrades ? "plain" : "primary"}
        />
      ) : (
        <Button asChild>
          <Link to="/workspaces/$workspaceId" params={{ workspaceId }} search={{ agent: agentId }}>
            Open in {workspaceId}
          </Link>
        </Button>
      )}
      <InstallButton entry={entry} isPrimary={false} onPress={() => onOpen("install")} />
    </>
  )
}
