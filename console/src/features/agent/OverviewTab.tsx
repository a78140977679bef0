/** What one version can do, asks for, and is bound by. */

import { Link } from "@tanstack/react-router"

import type { AgentOverview, CatalogEntry } from "@/api/contract.gen"
import { CodeBlock } from "@/components/CodeBlock"
import { CopyButton } from "@/components/CopyButton"
import { Facts } from "@/components/Facts"
import { Identifier } from "@/components/Identifier"
import { Panel } from "@/components/Panel"
import { Time } from "@/components/Time"
import { shortened } from "@/components/format"
import { runtimeConfig } from "@/config/runtime"
import { PermissionList } from "@/domain/PermissionList"
import { SkillPanel } from "@/domain/SkillPanel"
import { StateBadge } from "@/domain/StateBadge"
import { limitFacts } from "@/domain/limitFacts"
import { digestCommand } from "@/features/agent/digestCommand"

interface OverviewTabProps {
  readonly agent: AgentOverview
  readonly entry: CatalogEntry
}

export function OverviewTab({ agent, entry }: OverviewTabProps) {
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_20rem]">
      <div className="min-w-0 space-y-5">
        {entry.card.skills.map((skill) => (
          <SkillPanel key={skill.id} skill={skill} />
        ))}
      </div>
      <div className="min-w-0 space-y-5">
        <Panel title="Permissions">
          <PermissionList permissions={entry.card.permissions} />
        </Panel>
        <LimitPanel entry={entry} />
        <ProvenancePanel agent={agent} entry={entry} />
      </div>
    </div>
  )
}

function LimitPanel({ entry }: { readonly entry: CatalogEntry }) {
  const { limits, authentication } = entry.card
  const type = (
    <span key="" className="id-text">
      {authentication.type}
    </span>
  )
  return (
    <Panel title="Limits">
      <Facts facts={[...limitFacts(limits), ["Authentication", type]]} />
    </Panel>
  )
}

function ProvenancePanel({ agent, entry }: OverviewTabProps) {
  return (
    <Panel title="Provenance">
      <Facts
        facts={[
          ["Owner", `${entry.card.owner.displayName} (${entry.card.owner.id})`],
          ["Card", <StateBadge key="" state={entry.publicationStatus} />],
          ["Release", entry.release ? <StateBadge key="" state={entry.release.state} /> : "none"],
          [
            "Release id",
            entry.release ? (
              <span key="" className="inline-flex items-center">
                <Link
                  to="/releases/$releaseId"
                  params={{ releaseId: entry.release.releaseId }}
                  className="id-text text-accent-strong underline underline-offset-2"
                >
                  {shortened(entry.release.releaseId)}
                </Link>
                <CopyButton
                  text={entry.release.releaseId}
                  what="Release id"
                  className="size-6 [&_svg]:size-3.5"
                />
              </span>
            ) : undefined,
          ],
          ["Registered", <Time key="" at={entry.registeredAt} exact />],
          ["Published", entry.publishedAt ? <Time key="" at={entry.publishedAt} exact /> : undefined],
          ["Disabled", entry.disabledAt ? <Time key="" at={entry.disabledAt} exact /> : undefined],
          ["Card digest", <Identifier key="" value={entry.cardDigest} what="Card digest" />],
          [
            "Share link",
            <span key="" className="inline-flex items-center">
              <a
                href={agent.publicUrl}
                title={agent.publicUrl}
                className="id-text text-accent-strong underline underline-offset-2"
              >
                {shortened(agent.publicAgentId)}
              </a>
              <CopyButton text={agent.publicUrl} what="share link" className="size-6 [&_svg]:size-3.5" />
            </span>,
          ],
        ]}
      />
      <p className="mt-4 mb-1.5 text-sm text-muted">Check the digest yourself; the two must be equal:</p>
      <CodeBlock
        wrap
        code={digestCommand(runtimeConfig().apiBaseUrl, entry.agentId, entry.version)}
        what="command that verifies the digest"
      />
    </Panel>
  )
}
