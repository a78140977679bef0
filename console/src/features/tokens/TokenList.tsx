/** Tokens with their times, who made them, and the button that ends each. */

import { useState } from "react"

import type { AccessToken } from "@/api/contract.gen"
import { useAction } from "@/api/queries"
import { signOut } from "@/api/signIn"
import { Badge } from "@/components/Badge"
import { Button } from "@/components/Button"
import { ConfirmDialog } from "@/components/ConfirmDialog"
import { Time } from "@/components/Time"
import { useTell } from "@/components/Toasts"

const MAKERS: Readonly<Record<AccessToken["madeBy"], string>> = {
  operator: "made by the operator",
  openid: "made in a session of the OpenID provider",
  token: "made with another token",
  code: "made by a sign-in",
}

interface TokenListProps {
  readonly label: string
  readonly tokens: ReadonlyArray<AccessToken>
}

export function TokenList({ label, tokens }: TokenListProps) {
  const [asked, setAsked] = useState<AccessToken>()
  return (
    <>
      <ul aria-label={label} className="divide-y divide-line">
        {tokens.map((token) => (
          <li key={token.tokenId} className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2.5">
            <div className="min-w-0 flex-1 basis-56">
              <p className="flex flex-wrap items-center gap-2">
                <span className="font-medium break-words">{nameOf(token)}</span>
                {token.current ? <Badge tone="accent">used by this tab</Badge> : null}
              </p>
              <p className="text-sm text-muted">
                {MAKERS[token.madeBy]} <Time at={token.createdAt} /> · {usedText(token)}
              </p>
            </div>
            <span className="text-sm text-muted">
              expires <Time at={token.expiresAt} />
            </span>
            <Button size="small" aria-label={`Revoke ${nameOf(token)}`} onClick={() => setAsked(token)}>
              Revoke
            </Button>
          </li>
        ))}
      </ul>
      {asked === undefined ? null : <RevokeDialog token={asked} onClose={() => setAsked(undefined)} />}
    </>
  )
}

function nameOf({ label, tokenId }: AccessToken): string {
  return label === "" ? tokenId : label
}

function usedText({ lastUsedAt }: AccessToken) {
  if (lastUsedAt === undefined) return "not used yet"
  return (
    <>
      last used <Time at={lastUsedAt} />
    </>
  )
}

interface RevokeDialogProps {
  readonly token: AccessToken
  readonly onClose: () => void
}

function RevokeDialog({ token, onClose }: RevokeDialogProps) {
  const revoke = useAction("revokeMyToken", ["listMyTokens"])
  const tell = useTell()
  const confirm = () => {
    if (token.current) {
      void signOut()
      return
    }
    revoke.mutate(
      { path: { tokenId: token.tokenId } },
      {
        onSuccess: () => {
          tell(`${nameOf(token)} is revoked.`)
          onClose()
        },
      },
    )
  }
  return (
    <ConfirmDialog
      open
      title={`Revoke ${nameOf(token)}?`}
      action={token.current ? "Revoke and sign out" : "Revoke"}
      busy={revoke.isPending}
      problem={revoke.error}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>The Gateway refuses it from now on, on every process within 5 seconds. This cannot be undone.</p>
      <p>Tokens that were made with it and end with it are revoked as well.</p>
    </ConfirmDialog>
  )
}
