/** The end of the path: where the version is now, and what to do with it. */

import { Link } from "@tanstack/react-router"

import type { CatalogEntry, Release } from "@/api/contract.gen"
import { Button } from "@/components/Button"
import { CopyButton } from "@/components/CopyButton"
import { Facts } from "@/components/Facts"
import { Identifier } from "@/components/Identifier"
import { Time } from "@/components/Time"
import { StateBadge } from "@/domain/StateBadge"

export function Published({ entry, release }: { readonly entry: CatalogEntry; readonly release: Release }) {
  return (
    <div className="mt-3 max-w-2xl space-y-4 rounded-lg border border-line bg-surface p-4 text-ink">
      <Facts
        facts={[
          ["Release", <StateBadge key="" state={release.state} />],
          ["Published", release.publishedAt ? <Time key="" at={release.publishedAt} exact /> : undefined],
          ["Card digest", <Identifier key="" value={release.cardDigest} what="Card digest" />],
          [
            "Share link",
            <span key="" className="inline-flex max-w-full items-center gap-1">
              <a href={entry.publicUrl} className="id-text text-accent-strong underline underline-offset-2">
                {entry.publicUrl}
              </a>
              <CopyButton text={entry.publicUrl} what="share link" />
            </span>,
          ],
        ]}
      />
      <div className="flex flex-wrap gap-2">
        <Button asChild tone="primary">
          <Link to="/agents/$agentId" params={{ agentId: entry.agentId }} search={{ version: entry.version }}>
            Open the Agent page
          </Link>
        </Button>
        <Button asChild>
          <Link to="/releases/$releaseId" params={{ releaseId: release.releaseId }}>
            Manage the Release
          </Link>
        </Button>
        <Button asChild>
          <Link to="/publish" search={{ agent: entry.agentId, from: entry.version }}>
            Start the next version
          </Link>
        </Button>
      </div>
    </div>
  )
}
