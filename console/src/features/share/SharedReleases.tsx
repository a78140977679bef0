/** The Releases of a shared Agent, to choose one from; none is chosen beforehand. */

import { Link, useNavigate } from "@tanstack/react-router"
import { ShieldCheck } from "lucide-react"
import { useState, type ReactNode } from "react"

import type { PublicAgentShare, PublicAgentShareRelease as Release } from "@/api/contract.gen"
import { useSignedIn } from "@/api/useSignedIn"
import { Badge } from "@/components/Badge"
import { Button } from "@/components/Button"
import { Facts } from "@/components/Facts"
import { Identifier } from "@/components/Identifier"
import { Panel } from "@/components/Panel"
import { date, plural } from "@/components/format"
import { InstallDialog } from "@/domain/InstallDialog"
import { PermissionList } from "@/domain/PermissionList"
import { SkillPanel } from "@/domain/SkillPanel"
import { limitFacts } from "@/domain/limitFacts"

interface SharedReleasesProps {
  readonly share: PublicAgentShare
  /** Stands below the Releases read so far and leads to the others. */
  readonly more: ReactNode
}

export function SharedReleases({ share, more }: SharedReleasesProps) {
  const [chosen, setChosen] = useState<string>()
  const release = share.releases.find(({ releaseId }) => releaseId === chosen)
  return (
    <div className="space-y-5">
      <Panel
        title="Choose a version"
        description={`${plural(share.releases.length, "published Release")}${share.nextCursor === undefined ? "" : ", and more,"} with a proven endpoint.`}
      >
        <div role="radiogroup" aria-label="Version" className="space-y-2">
          {share.releases.map((each) => (
            <ReleaseChoice
              key={each.releaseId}
              release={each}
              chosen={each.releaseId === chosen}
              onChoose={() => setChosen(each.releaseId)}
            />
          ))}
        </div>
        {more}
        <div className="mt-4">
          <InstallButton share={share} release={release} />
        </div>
      </Panel>
      {release === undefined ? null : <ReleaseFacts release={release} />}
    </div>
  )
}

interface ReleaseChoiceProps {
  readonly release: Release
  readonly chosen: boolean
  readonly onChoose: () => void
}

function ReleaseChoice({ release, chosen, onChoose }: ReleaseChoiceProps) {
  return (
    <label className="flex cursor-pointer items-start gap-3 rounded-md border border-line p-3 hover:bg-hover has-checked:border-accent has-checked:bg-accent-soft">
      <input
        type="radio"
        name="release"
        checked={chosen}
        onChange={onChoose}
        className="mt-1 size-4 accent-accent"
      />
      <span className="min-w-0 flex-1 text-sm">
        <span className="flex flex-wrap items-center gap-2">
          <span className="id-text font-medium">{release.version}</span>
          <span>{release.name}</span>
          <Badge tone="ok" icon={<ShieldCheck aria-hidden />}>
            Proven endpoint
          </Badge>
        </span>
        <span className="text-muted">
          published {date(release.publishedAt)} by {release.owner.displayName} ·{" "}
          {release.permissions.length === 0
            ? "no permission"
            : plural(release.permissions.length, "permission")}{" "}
          · {plural(release.skills.length, "Skill")}
        </span>
      </span>
    </label>
  )
}

function InstallButton({
  share,
  release,
}: {
  readonly share: PublicAgentShare
  readonly release: Release | undefined
}) {
  const signedIn = useSignedIn()
  const navigate = useNavigate()
  const [installing, setInstalling] = useState(false)
  if (!signedIn) {
    return (
      <Button asChild tone="primary">
        <Link to="/sign-in" search={{ next: `/a/${share.publicAgentId}` }}>
          Sign in to install
        </Link>
      </Button>
    )
  }
  return (
    <>
      <Button tone="primary" disabled={release === undefined} onClick={() => setInstalling(true)}>
        Install in a Workspace
      </Button>
      {installing && release !== undefined ? (
        <InstallDialog
          agent={release}
          onClose={() => setInstalling(false)}
          onInstalled={({ workspaceId }) =>
            void navigate({ to: "/workspaces/$workspaceId", params: { workspaceId } })
          }
        />
      ) : null}
    </>
  )
}

function ReleaseFacts({ release }: { readonly release: Release }) {
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_20rem]">
      <div className="min-w-0 space-y-5">
        {release.skills.map((skill) => (
          <SkillPanel key={skill.id} skill={skill} />
        ))}
      </div>
      <div className="min-w-0 space-y-5">
        <Panel title="Permissions">
          <PermissionList permissions={release.permissions} />
        </Panel>
        <Panel title="Facts">
          <Facts
            facts={[
              [
                "Agent",
                <span key="" className="id-text">
                  {release.agentId}
                </span>,
              ],
              ["Owner", `${release.owner.displayName} (${release.owner.id})`],
              ["Release", <Identifier key="" value={release.releaseId} what="Release id" />],
              ["Card digest", <Identifier key="" value={release.cardDigest} what="Card digest" />],
              ...limitFacts(release.limits),
            ]}
          />
        </Panel>
      </div>
    </div>
  )
}
