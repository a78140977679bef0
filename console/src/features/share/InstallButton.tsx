/** Leads from the chosen version, through sign-in where needed, to its installation. */

import { Link } from "@tanstack/react-router"
import { useState } from "react"

import type { PublicAgentShare, PublicAgentShareRelease as Release } from "@/api/contract.gen"
import { useSignedIn } from "@/api/useSignedIn"
import { Button } from "@/components/Button"
import { InstallDialog } from "@/domain/InstallDialog"

interface InstallButtonProps {
  readonly share: PublicAgentShare
  /** Nothing until a version is chosen. */
  readonly release: Release | undefined
}

export function InstallButton({ share, release }: InstallButtonProps) {
  const signedIn = useSignedIn()
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
      {release === undefined ? <p className="text-sm text-muted">Choose a version first.</p> : null}
      {installing && release !== undefined ? (
        <InstallDialog agent={release} onClose={() => setInstalling(false)} />
      ) : null}
    </>
  )
}
