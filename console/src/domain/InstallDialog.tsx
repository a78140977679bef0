/** Installs one exact version into a Workspace, with the permissions its owner accepts; then leads to where it can be tried. */

import { useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"

import { PATTERNS, type Installation } from "@/api/contract.gen"
import { useCurrentWorkspace } from "@/api/currentWorkspace"
import { read, useAction } from "@/api/queries"
import { Button } from "@/components/Button"
import { Dialog } from "@/components/Dialog"
import { Facts } from "@/components/Facts"
import { ProblemNotice } from "@/components/Problems"
import { useTell } from "@/components/Toasts"
import { AlreadyInstalled } from "@/domain/AlreadyInstalled"
import { InstallTarget, NEW, type Target } from "@/domain/InstallTarget"
import { NameWarnings, type Named } from "@/domain/NameWarnings"
import { PermissionChoice } from "@/domain/PermissionChoice"
import { outlook, type Permitted } from "@/domain/consent"
import { current, useInstallations } from "@/domain/installed"

export interface Installable extends Permitted, Named {
  readonly agentId: string
  readonly version: string
}

interface InstallDialogProps {
  readonly agent: Installable
  readonly onClose: () => void
}

/** Rendered while open. No permission is accepted beforehand. */
export function InstallDialog({ agent, onClose }: InstallDialogProps) {
  const overview = useQuery(
    read("readAgentOverview", { path: { agentId: agent.agentId }, query: { limit: 1 } }),
  )
  const open = useCurrentWorkspace()
  const [chosen, setChosen] = useState<Target>()
  const [accepted, setAccepted] = useState<ReadonlySet<string>>(new Set())
  const known = open.role === "owner" ? open.workspaceId : open.workspaces[0]?.workspaceId
  const target = chosen ?? { workspaceId: known ?? NEW, name: "" }
  const installations = useInstallations(target.workspaceId === NEW ? undefined : target.workspaceId)
  const installed = current(installations.data ?? [], agent.agentId)
  const land = useLanding(agent, accepted)
  const install = useInstall(agent, accepted)
  const isNamed = target.workspaceId !== NEW || PATTERNS.safeIdentifier.test(target.name)
  const isKnown = !open.isPending && !overview.isPending && !installations.isLoading
  const isUnusable = outlook(agent, accepted) === "none"
  const submit = async () => {
    const { workspaceId } = await install.into(target, (made) => setChosen({ workspaceId: made, name: "" }))
    land(workspaceId)
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Install ${agent.name} ${agent.version}`}
      description="The Installation is pinned to exactly this version."
      footer={
        <>
          <Button onClick={onClose}>{installed ? "Close" : "Cancel"}</Button>
          {installed ? null : (
            <Button
              tone={isUnusable ? "plain" : "primary"}
              busy={install.isPending}
              disabled={!isNamed || !isKnown}
              onClick={() => void submit().catch(() => undefined)}
            >
              {isUnusable ? "Install anyway" : "Install"}
            </Button>
          )}
        </>
      }
    >
      <div className="space-y-5">
        <Identity agent={agent} />
        <NameWarnings agent={agent} resembles={overview.data?.resembles} />
        {overview.isError ? (
          <ProblemNotice title="The check for imitated names failed" problem={overview.error} />
        ) : null}
        <InstallTarget open={open} target={target} onChange={setChosen} />
        {installed ? (
          <AlreadyInstalled installation={installed} />
        ) : (
          <>
            <PermissionChoice agent={agent} accepted={accepted} onChange={setAccepted} />
            <p className="text-sm">It may call any Skill that this Workspace may use.</p>
          </>
        )}
        {install.problem ? (
          <ProblemNotice title="The Agent was not installed" problem={install.problem} />
        ) : null}
      </div>
    </Dialog>
  )
}

function useInstall(agent: Installable, accepted: ReadonlySet<string>) {
  const create = useAction("createWorkspace", ["listWorkspaces"])
  const install = useAction("installAgent", ["listInstallations"])
  const tell = useTell()
  /** A new Workspace is made first; it stays when the Installation fails. */
  const into = async (target: Target, onMade: (workspaceId: string) => void): Promise<Installation> => {
    let { workspaceId } = target
    if (workspaceId === NEW) {
      workspaceId = (await create.mutateAsync({ body: { workspaceId: target.name } })).workspaceId
      onMade(workspaceId)
    }
    const body = {
      agentId: agent.agentId,
      versionConstraint: agent.version,
      acceptedPermissions: [...accepted],
    }
    const installation = await install.mutateAsync({ path: { workspaceId }, body })
    tell(`${agent.name} ${agent.version} is installed in ${workspaceId}.`)
    return installation
  }
  return { into, isPending: create.isPending || install.isPending, problem: install.error ?? create.error }
}

/** To the Playground when a Skill can be used, else to the Workspace, where more can be accepted. */
function useLanding({ agentId, ...agent }: Installable, accepted: ReadonlySet<string>) {
  const navigate = useNavigate()
  return (workspaceId: string) =>
    outlook(agent, accepted) === "none"
      ? void navigate({ to: "/workspaces/$workspaceId", params: { workspaceId }, search: { agent: agentId } })
      : void navigate({
          to: "/workspaces/$workspaceId/playground",
          params: { workspaceId },
          search: { agent: agentId },
        })
}

/** The exact ids, which nobody else can have, beside the names, which anybody can. */
function Identity({ agent }: { readonly agent: Installable }) {
  return (
    <Facts
      facts={[
        [
          "Agent",
          <span key="" className="id-text">
            {agent.agentId}
          </span>,
        ],
        [
          "Owner",
          <span key="" className="id-text">
            {agent.owner.id}
          </span>,
        ],
        ["Shown as", <bdi key="">{agent.owner.displayName}</bdi>],
      ]}
    />
  )
}
