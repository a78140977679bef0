/** Another version or other permissions for an Installation: its Agent's versions are read when it is opened. */

import { useQuery } from "@tanstack/react-query"

import type { Installation } from "@/api/contract.gen"
import { agentVersions } from "@/api/queries"
import { Dialog } from "@/components/Dialog"
import { Loaded } from "@/components/Loaded"
import { UpgradeDialog } from "@/domain/UpgradeDialog"
import { plannedUpgrade } from "@/domain/upgrade"

interface ChangeInstallationProps {
  readonly installation: Installation
  readonly onClose: () => void
}

/** Rendered while open. */
export function ChangeInstallation({ installation, onClose }: ChangeInstallationProps) {
  const agent = useQuery(agentVersions(installation.agentId))
  const plan = agent.data && plannedUpgrade(installation, agent.data.versions)
  if (plan !== undefined && plan.choices.length > 0) return <UpgradeDialog plan={plan} onClose={onClose} />
  return (
    <Dialog open onClose={onClose} title={`Change ${installation.agentId}`}>
      <Loaded query={agent} what="Versions">
        {() => (
          <p className="text-sm">
            No version of this Agent can be installed now. Its provider has to publish one.
          </p>
        )}
      </Loaded>
    </Dialog>
  )
}
