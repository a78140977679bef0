/** Shows one sign-in code for `aop login --browser`, after a question that names the account and the Gateway. */

import { useQuery } from "@tanstack/react-query"

import { me, useAction } from "@/api/queries"
import { Button } from "@/components/Button"
import { CopyButton } from "@/components/CopyButton"
import { Facts } from "@/components/Facts"
import { Loaded } from "@/components/Loaded"
import { Page } from "@/components/Page"
import { Panel } from "@/components/Panel"
import { ProblemNotice } from "@/components/Problems"
import { Time } from "@/components/Time"
import { runtimeConfig } from "@/config/runtime"

export function SignInCodePage() {
  const account = useQuery(me())
  return (
    <Page
      title="Sign in on the command line"
      description={
        <>
          For <code className="id-text">aop login --browser</code>: the command asks for a code of this page.
        </>
      }
    >
      <Loaded query={account} what="Account">
        {({ principalId }) => <OneCode principalId={principalId} />}
      </Loaded>
    </Page>
  )
}

function OneCode({ principalId }: { readonly principalId: string }) {
  const make = useAction("createSignInCode")
  const made = make.data
  return (
    <Panel title={made === undefined ? "Let a command act as you?" : "Your code"} className="max-w-2xl">
      <div className="space-y-4 text-sm">
        <Facts
          facts={[
            [
              "Account",
              <span key="" className="id-text font-medium">
                {principalId}
              </span>,
            ],
            [
              "Gateway",
              <span key="" className="id-text font-medium">
                {runtimeConfig().apiBaseUrl}
              </span>,
            ],
          ]}
        />
        {made === undefined ? (
          <>
            <p>
              Whoever has the code acts as this account. Go on only if you started{" "}
              <code className="id-text">aop login --browser</code> yourself, and give the code to nobody.
            </p>
            <Button tone="primary" busy={make.isPending} onClick={() => make.mutate({})}>
              Show a code
            </Button>
          </>
        ) : (
          <>
            <div className="flex items-center gap-2 rounded-md border border-line bg-sunken px-3 py-2">
              <code className="min-w-0 flex-1 id-text break-all">{made.code}</code>
              <CopyButton text={made.code} what="code" />
            </div>
            <p>
              Paste it where the command asks for it. It works once, until <Time at={made.expiresAt} exact />,
              and is shown only here.
            </p>
          </>
        )}
        {make.isError ? <ProblemNotice title="No code was made" problem={make.error} /> : null}
      </div>
    </Panel>
  )
}
