/** Installs one exact version into a Workspace, with the permissions its owner accepts, one by one. */

import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"

import { PATTERNS, type Installation } from "@/api/contract.gen"
import { read, useAction, whole } from "@/api/queries"
import { Button } from "@/components/Button"
import { Dialog } from "@/components/Dialog"
import { Facts } from "@/components/Facts"
import { Field, Select, TextInput } from "@/components/Field"
import { ProblemNotice } from "@/components/Problems"
import { useTell } from "@/components/Toasts"
import { preferred } from "@/config/preferences"
import { NameWarnings, type Named } from "@/domain/NameWarnings"
import { PermissionChoice, type Permitted } from "@/domain/PermissionChoice"

export interface Installable extends Permitted, Named {
  readonly agentId: string
  readonly version: string
}

interface InstallDialogProps {
  readonly agent: Installable
  /** The Workspace to begin with; the one used last when absent. */
  readonly workspaceId?: string
  readonly onClose: () => void
  readonly onInstalled?: (installation: Installation) => void
}

const NEW = ""

/** Rendered while open. No permission is accepted beforehand. */
export function InstallDialog({ agent, workspaceId, onClose, onInstalled }: InstallDialogProps) {
  const overview = useQuery(
    read("readAgentOverview", { path: { agentId: agent.agentId }, query: { limit: 1 } }),
  )
  const workspaces = useQuery(whole("listWorkspaces", { query: {} }))
  // Callers cannot install; the choice has the Workspaces where this account can.
  const known =
    workspaces.data?.filter(({ role }) => role === "owner").map((workspace) => workspace.workspaceId) ?? []
  const [chosen, setChosen] = useState(workspaceId ?? preferred("workspace"))
  const [named, setNamed] = useState("")
  const [accepted, setAccepted] = useState<ReadonlySet<string>>(new Set())
  const create = useAction("createWorkspace", ["listWorkspaces"])
  const install = useAction("installAgent", ["listInstallations"])
  const tell = useTell()
  const target =
    chosen !== undefined && known.includes(chosen) ? chosen : chosen === NEW ? NEW : (known[0] ?? NEW)

  const submit = async () => {
    const destination =
      target === NEW ? (await create.mutateAsync({ body: { workspaceId: named } })).workspaceId : target
    setChosen(destination)
    const body = {
      agentId: agent.agentId,
      versionConstraint: agent.version,
      acceptedPermissions: [...accepted],
    }
    const installation = await install.mutateAsync({ path: { workspaceId: destination }, body })
    tell(`${agent.name} ${agent.version} is installed in ${destination}.`)
    onInstalled?.(installation)
  }
  const problem = install.error ?? create.error
  const ready = target !== NEW || PATTERNS.safeIdentifier.test(named)
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Install ${agent.name} ${agent.version}`}
      description="The Installation is pinned to exactly this version."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            tone="primary"
            busy={create.isPending || install.isPending}
            disabled={!ready || workspaces.data === undefined || overview.isPending}
            onClick={() => void submit().catch(() => undefined)}
          >
            Install
          </Button>
        </>
      }
    >
      <div className="space-y-5">
        <Identity agent={agent} />
        <NameWarnings agent={agent} resembles={overview.data?.resembles} />
        {overview.isError ? (
          <ProblemNotice title="The check for imitated names failed" problem={overview.error} />
        ) : null}
        <div className="grid gap-3 sm:grid-cols-2">
          <Field
            label="Workspace"
            hint={
              known.length < (workspaces.data?.length ?? 0)
                ? "Only Workspaces that you own are listed."
                : undefined
            }
          >
            {(control) => (
              <Select {...control} value={target} onChange={(event) => setChosen(event.target.value)}>
                {known.map((id) => (
                  <option key={id} value={id}>
                    {id}
                  </option>
                ))}
                <option value={NEW}>New Workspace…</option>
              </Select>
            )}
          </Field>
          {target === NEW ? (
            <Field label="Id of the new Workspace" hint="Letters, digits and . _ : -">
              {(control) => (
                <TextInput {...control} value={named} onChange={(event) => setNamed(event.target.value)} />
              )}
            </Field>
          ) : null}
        </div>
        <PermissionChoice agent={agent} accepted={accepted} onChange={setAccepted} />
        <p className="text-sm">It may call any Skill that this Workspace may use.</p>
        {workspaces.isError ? (
          <ProblemNotice title="Your Workspaces could not be loaded" problem={workspaces.error} />
        ) : null}
        {problem ? (
          <ProblemNotice
            title="The Agent was not installed"
            problem={problem}
            action={
              problem.code === "CONFLICT" && target !== NEW ? (
                <Button asChild size="small">
                  <Link to="/workspaces/$workspaceId" params={{ workspaceId: target }}>
                    Open {target}
                  </Link>
                </Button>
              ) : undefined
            }
          />
        ) : null}
      </div>
    </Dialog>
  )
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
