/** A sign-in link: its code gives a session once. Somebody who is signed in is asked before that session is replaced. */

import { useQuery } from "@tanstack/react-query"
import { useEffect, useState } from "react"

import { call } from "@/api/http"
import { Problem } from "@/api/problem"
import { startSession, token } from "@/api/session"
import { discard, redeem, type NewSession } from "@/api/signIn"
import { Button } from "@/components/Button"
import { ProblemNotice } from "@/components/Problems"
import { Spinner } from "@/components/Spinner"
import { useTell } from "@/components/Toasts"
import { SignInFrame } from "@/features/sign-in/SignInFrame"

interface LinkSignInProps {
  /** Undefined when the link is cut or changed. */
  readonly code: string | undefined
  readonly onDone: () => void
  /** To the forms for another way to sign in. */
  readonly onAgain: () => void
}

export function LinkSignIn({ code, onDone, onAgain }: LinkSignInProps) {
  const arrived = useQuery({
    queryKey: ["sign-in-link", code],
    queryFn: () => openedBy(code),
    staleTime: Infinity,
    gcTime: 0, // it holds a token
  })
  if (arrived.isError) return <LinkRefused problem={arrived.error} onAgain={onAgain} />
  if (arrived.data === undefined) return <Working />
  const { session, present } = arrived.data
  if (present === undefined) return <Entered session={session} onDone={onDone} />
  return <Switch session={session} present={present} onDone={onDone} />
}

interface Opened {
  readonly session: NewSession
  /** Whose session is open in this tab. */
  readonly present: string | undefined
}

async function openedBy(code: string | undefined): Promise<Opened> {
  if (code === undefined) throw new Error("This address is not a whole sign-in link.")
  const session = await redeem(code)
  return { session, present: token() === undefined ? undefined : await presentAccount() }
}

/** A session that the Gateway no longer takes is none; one that cannot be read now still has to be asked about. */
async function presentAccount(): Promise<string | undefined> {
  try {
    return (await call("readMe", {})).principalId
  } catch (failure) {
    const isOver = failure instanceof Problem && failure.code === "UNAUTHENTICATED"
    return isOver ? undefined : "an account that could not be read"
  }
}

function Working() {
  return (
    <SignInFrame title="Signing in">
      <p role="status" className="flex items-center gap-2 text-muted">
        <Spinner /> The Gateway checks the link.
      </p>
    </SignInFrame>
  )
}

function Entered({ session, onDone }: { readonly session: NewSession; readonly onDone: () => void }) {
  const tell = useTell()
  useEffect(() => {
    if (token() === session.token) return
    startSession(session.token)
    tell(`You are now ${session.principalId}.`)
    onDone()
  }, [session, tell, onDone])
  return <Working />
}

interface SwitchProps {
  readonly session: NewSession
  readonly present: string
  readonly onDone: () => void
}

function Switch({ session, present, onDone }: SwitchProps) {
  const [chosen, setChosen] = useState<"switch" | "stay">()
  const [problem, setProblem] = useState<unknown>()
  const tell = useTell()
  const same = session.principalId === present
  const choose = async (choice: "switch" | "stay") => {
    setChosen(choice)
    const unused = choice === "switch" ? token() : session.token
    // Whichever session is not used any more is revoked; if that fails, it expires by itself.
    const failure = unused === undefined ? undefined : await discard(unused).catch((each: unknown) => each)
    if (choice === "switch") startSession(session.token)
    else if (failure instanceof Problem && problem === undefined) {
      setProblem(failure)
      setChosen(undefined)
      return
    }
    tell(choice === "switch" ? `You are now ${session.principalId}.` : `You are still ${present}.`)
    onDone()
  }
  return (
    <SignInFrame title={same ? "Replace your session?" : `Switch to ${session.principalId}?`}>
      <p>
        You are signed in as <strong className="break-words">{present}</strong>. This link signs you in as{" "}
        <strong className="break-words">{session.principalId}</strong>
        {same ? ", with a new session" : ""}. The session that you do not choose is revoked.
      </p>
      {same ? null : (
        <p className="text-muted">
          If you did not ask for this link, stay: what you do after a switch is done in the other account.
        </p>
      )}
      <div className="flex flex-wrap gap-2">
        <Button
          tone="primary"
          busy={chosen === "stay"}
          disabled={chosen !== undefined}
          onClick={() => void choose("stay")}
        >
          Stay {same ? "in this session" : present}
        </Button>
        <Button
          busy={chosen === "switch"}
          disabled={chosen !== undefined}
          onClick={() => void choose("switch")}
        >
          {same ? "Use the new session" : `Switch to ${session.principalId}`}
        </Button>
      </div>
      {problem === undefined ? null : (
        <ProblemNotice title="The session of the link was not revoked" problem={problem} />
      )}
    </SignInFrame>
  )
}

function LinkRefused({ problem, onAgain }: { readonly problem: Error; readonly onAgain: () => void }) {
  const isUnusable = !(problem instanceof Problem) || problem.reason === "sign_in_code"
  const present = token() !== undefined
  return (
    <SignInFrame title="This sign-in link cannot be used">
      {isUnusable ? (
        <>
          <p>
            A sign-in link works once, and only for 10 minutes. This one was used, is too old or is not
            complete.
          </p>
          <p>
            To get a new link, run <code className="id-text">aop open</code> on the machine of the platform.
          </p>
        </>
      ) : (
        <ProblemNotice title="You are not signed in" problem={problem} />
      )}
      <Button onClick={onAgain}>{present ? "Continue in your session" : "Sign in another way"}</Button>
    </SignInFrame>
  )
}
