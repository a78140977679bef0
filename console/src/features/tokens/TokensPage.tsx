/** The tokens and sessions of the account: a new one, what there is, and the end of each. */

import { useQuery } from "@tanstack/react-query"

import type { AccessToken } from "@/api/contract.gen"
import { whole } from "@/api/queries"
import { Loaded } from "@/components/Loaded"
import { Page } from "@/components/Page"
import { Panel } from "@/components/Panel"
import { NewToken } from "@/features/tokens/NewToken"
import { TokenList } from "@/features/tokens/TokenList"

export function TokensPage() {
  const tokens = useQuery(whole("listMyTokens", { query: {} }))
  return (
    <Page
      title="Tokens"
      description="A token lets a program call the Gateway as you. A session is a token that a sign-in made; it lives at most 12 hours."
    >
      <div className="space-y-5">
        <NewToken />
        <Loaded query={tokens} what="Tokens">
          {(all) => (
            <>
              <Group
                title="Tokens"
                tokens={all.filter((token) => !isSession(token))}
                none="You have no token."
              />
              <Group
                title="Sessions"
                tokens={all.filter(isSession)}
                none="No session of the platform is open."
              />
            </>
          )}
        </Loaded>
      </div>
    </Page>
  )
}

function isSession({ madeBy }: AccessToken): boolean {
  return madeBy === "code"
}

interface GroupProps {
  readonly title: string
  readonly tokens: ReadonlyArray<AccessToken>
  readonly none: string
}

function Group({ title, tokens, none }: GroupProps) {
  return (
    <Panel title={title} padded={tokens.length === 0}>
      {tokens.length === 0 ? (
        <p className="text-sm text-muted">{none}</p>
      ) : (
        <TokenList label={title} tokens={tokens} />
      )}
    </Panel>
  )
}
