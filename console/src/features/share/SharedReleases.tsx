/** One version of a shared Agent as anybody may know it: the newest until another is chosen, and the choice itself. */

import { ShieldCheck } from "lucide-react"
import { useState, type ReactNode } from "react"

import type { PublicAgentShare, PublicAgentShareRelease as Release } from "@/api/contract.gen"
import { Badge } from "@/components/Badge"
import { CodeBlock } from "@/components/CodeBlock"
import { Facts } from "@/components/Facts"
import { Identifier } from "@/components/Identifier"
import { Panel } from "@/components/Panel"
import { Time } from "@/components/Time"
import { plural } from "@/components/format"
import { PermissionList } from "@/domain/PermissionList"
import { SkillPanel } from "@/domain/SkillPanel"
import { limitFacts } from "@/domain/limitFacts"
import { quoted } from "@/domain/snippets"
import { InstallButton } from "@/features/share/InstallButton"
import { VersionChoice } from "@/features/share/VersionChoice"

export const VERSIONS_ID = "versions"

interface SharedReleasesProps {
  readonly share: PublicAgentShare
  /** Stands below the Releases read so far and leads to the others. */
  readonly more: ReactNode
}

export function SharedReleases({ share, more }: SharedReleasesProps) {
  // What is described is not what is chosen: nothing is installed that nobody has picked.
  const [chosen, setChosen] = useState<string>()
  const [newest] = share.releases
  const picked = share.releases.find(({ releaseId }) => releaseId === chosen)
  const shown = picked ?? newest
  if (shown === undefined) return null
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_22rem]">
      <section aria-label={`Version ${shown.version}`} className="min-w-0 space-y-5">
        <Summary release={shown} isNewest={shown === newest} />
        {shown.skills.map((skill) => (
          <SkillPanel key={skill.id} skill={skill} />
        ))}
      </section>
      <div className="min-w-0 space-y-5">
        <div id={VERSIONS_ID} className="scroll-mt-4">
          <Panel
            title="Versions"
            description={`${plural(share.releases.length, "version")}${share.nextCursor === undefined ? "" : ", and more,"} can be installed.`}
          >
            <VersionChoice releases={share.releases} chosen={chosen} onChoose={setChosen} />
            {more}
            <div className="mt-4 space-y-4">
              <InstallButton share={share} release={picked} />
              <InstallLine release={shown} />
            </div>
          </Panel>
        </div>
        <Panel title="Permissions" description="Whoever installs it chooses which of them to accept.">
          <PermissionList permissions={shown.permissions} />
        </Panel>
        <ReleaseFacts release={shown} />
      </div>
    </div>
  )
}

function Summary({ release, isNewest }: { readonly release: Release; readonly isNewest: boolean }) {
  return (
    <div className="space-y-1">
      <h2 className="flex flex-wrap items-center gap-2 text-lg font-semibold">
        Version {release.version}
        {isNewest ? <Badge tone="accent">Newest version</Badge> : null}
        <Badge tone="ok" icon={<ShieldCheck aria-hidden />}>
          Proven endpoint
        </Badge>
      </h2>
      <p className="text-sm text-muted">
        {plural(release.skills.length, "Skill")}: {release.skills.map(({ name }) => name).join(", ")}
      </p>
      {isNewest ? null : (
        <p className="max-w-prose text-muted">
          {release.name}: {release.description}
        </p>
      )}
    </div>
  )
}

/** The command line asks for the permissions one by one. */
function InstallLine({ release }: { readonly release: Release }) {
  return (
    <div className="space-y-1">
      <p className="text-sm font-medium">With the command line</p>
      <CodeBlock
        what="install command"
        code={`aop install ${quoted(release.agentId)} \\\n  --version ${quoted(release.version)}`}
      />
    </div>
  )
}

function ReleaseFacts({ release }: { readonly release: Release }) {
  return (
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
          ["Published", <Time key="" at={release.publishedAt} exact />],
          ["Release", <Identifier key="" value={release.releaseId} what="Release id" />],
          ["Card digest", <Identifier key="" value={release.cardDigest} what="Card digest" />],
          ...limitFacts(release.limits),
        ]}
      />
    </Panel>
  )
}
