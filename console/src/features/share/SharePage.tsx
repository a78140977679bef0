/** The public page of an Agent, for everybody who has the link: its newest version first, then all that can be installed. */

import { useInfiniteQuery, type InfiniteData } from "@tanstack/react-query"
import { getRouteApi, Link, useLocation } from "@tanstack/react-router"
import { Link2Off, PackageX } from "lucide-react"
import type { ReactNode } from "react"

import type { PublicAgentShare } from "@/api/contract.gen"
import { sharedReleases } from "@/api/queries"
import { useSignedIn } from "@/api/useSignedIn"
import { Brand } from "@/components/Brand"
import { Button } from "@/components/Button"
import { EmptyState } from "@/components/EmptyState"
import { LoadMore } from "@/components/LoadMore"
import { Loaded } from "@/components/Loaded"
import { Page } from "@/components/Page"
import { date } from "@/components/format"
import { runtimeConfig } from "@/config/runtime"
import { openedAddress, publicAgentIdOf } from "@/config/shareLink"
import { AccountName } from "@/domain/AccountName"
import { SharedReleases, VERSIONS_ID } from "@/features/share/SharedReleases"

const route = getRouteApi("/a/$publicAgentId")

export function SharePage() {
  const { publicAgentId } = route.useParams()
  const index = useLocation({ select: (location) => location.state.__TSR_index })
  // The router tidies addresses up; the first one counts as it was typed.
  const address = index === 0 ? (openedAddress() ?? location.href) : location.href
  return (
    <Frame>
      {publicAgentIdOf(address, runtimeConfig().publicAgentOrigin) === publicAgentId ? (
        <SharedAgent publicAgentId={publicAgentId} />
      ) : (
        <NotCanonical />
      )}
    </Frame>
  )
}

function SharedAgent({ publicAgentId }: { readonly publicAgentId: string }) {
  const share = useInfiniteQuery({
    ...sharedReleases(publicAgentId),
    select: together,
  })
  const newest = share.data?.releases[0]
  return (
    <Page
      title={newest?.name ?? "Shared Agent"}
      above={
        newest === undefined
          ? "Shared Agent"
          : `Agent of ${newest.owner.displayName} · version ${newest.version} · published ${date(newest.publishedAt)}`
      }
      description={newest?.description}
      width="narrow"
      actions={newest === undefined ? undefined : <ToVersions />}
    >
      <Loaded query={share} what="Agent">
        {(shared) => shared && <Releases share={shared} more={<LoadMore list={share} />} />}
      </Loaded>
    </Page>
  )
}

/** Down to where a version is chosen; the address stays the share link. */
function ToVersions() {
  return (
    <Button
      tone="primary"
      className="lg:hidden"
      onClick={() => {
        const place = document.getElementById(VERSIONS_ID)
        place?.scrollIntoView()
        place?.querySelector("input")?.focus({ preventScroll: true })
      }}
    >
      Choose a version
    </Button>
  )
}

/** What the pages read so far say, as one: the last of them knows whether there are more. */
function together({ pages }: InfiniteData<PublicAgentShare>): PublicAgentShare | undefined {
  const last = pages.at(-1)
  return last && { ...last, releases: pages.flatMap(({ releases }) => releases) }
}

interface ReleasesProps {
  readonly share: PublicAgentShare
  readonly more: ReactNode
}

function Releases({ share, more }: ReleasesProps) {
  if (share.availability === "not_installable") {
    return (
      <EmptyState icon={<PackageX aria-hidden />} title="This Agent cannot be installed now.">
        It has no published Release with a proven endpoint. The link stays valid: if its provider publishes a
        new version, it appears here.
      </EmptyState>
    )
  }
  return <SharedReleases share={share} more={more} />
}

function NotCanonical() {
  const { publicAgentOrigin } = runtimeConfig()
  return (
    <Page title="Not a share link" width="narrow">
      <EmptyState
        icon={<Link2Off aria-hidden />}
        title="This address is not a share link of this platform."
        action={
          <Button asChild>
            <Link to="/discover">Go to Discover</Link>
          </Button>
        }
      >
        A share link is exactly <span className="id-text">{publicAgentOrigin}/a/</span> followed by the id of
        an Agent. Ask for the link again.
      </EmptyState>
    </Page>
  )
}

function Frame({ children }: { readonly children: ReactNode }) {
  const signedIn = useSignedIn()
  return (
    <div className="min-h-dvh">
      <header className="border-b border-line bg-surface">
        <div className="mx-auto flex max-w-5xl items-center justify-between gap-3 px-4 py-2.5 sm:px-6 lg:px-8">
          <Brand />
          {signedIn ? (
            <div className="flex min-w-0 items-center gap-3">
              <AccountName className="text-sm text-muted" />
              <Button asChild tone="quiet">
                <Link to="/discover">Open the Console</Link>
              </Button>
            </div>
          ) : null}
        </div>
      </header>
      <main>{children}</main>
    </div>
  )
}
