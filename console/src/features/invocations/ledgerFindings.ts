/** What the check of a bundle says: never more than was checked, and what was not. */

import type { Checked } from "@/domain/ledgerCheck"

export interface Finding {
  readonly kind: "ok" | "bad" | "open"
  readonly says: string
}

export interface Findings {
  readonly verified: ReadonlyArray<Finding>
  readonly notVerified: ReadonlyArray<Finding>
}

const HEAD = /^([1-9][0-9]{0,15}):[0-9a-f]{64}$/

/** `kept` is the head that the reader kept, as it was typed. */
export function findingsOf(checked: Checked, kept: string): Findings {
  const { events, size, root, hasAuthorization } = checked
  const head = kept.trim().toLowerCase()
  const isKept = head === `${String(size)}:${root}`
  const named = HEAD.exec(head)?.[1]
  const isOtherRoot = !isKept && named === String(size)
  return {
    verified: [
      isKept
        ? ok(
            `All ${String(events)} events, from the creation to the end, are in the Ledger of the head that you kept, and unchanged since.`,
          )
        : ok(
            `All ${String(events)} events, from the creation to the end, lead to the root of the head that the Gateway sent with them.`,
          ),
      ok("The Card is the one that the events name."),
      ...(hasAuthorization
        ? [ok("The Installation and the Release that permitted the call are those that the events name.")]
        : []),
      ...(isOtherRoot ? [bad("The head is not the one that you kept: history was changed.")] : []),
    ],
    notVerified: [
      ...(isKept || isOtherRoot ? [] : withoutHead(checked, head, named !== undefined)),
      ...(hasAuthorization
        ? []
        : [open("What permitted the call: this Invocation is older than that record.")]),
      open(
        "Whether a member stands twice in the answer or in the Card: a browser sees the last one. aop verify refuses such a file.",
      ),
      open("Input and result, which are not recorded, and whether the clock was right."),
    ],
  }
}

function withoutHead({ sizes }: Checked, head: string, isHead: boolean): ReadonlyArray<Finding> {
  const [least, most] = sizes
  const trees =
    least === most
      ? `a tree of ${String(least)} events`
      : `trees of ${String(least)} to ${String(most)} events`
  const unbound = open(
    `Whether everything was written anew, and the size of the head: nothing was compared with a head that you kept, and the places of the events fit ${trees}.`,
  )
  if (head === "") return [unbound]
  return [
    open(
      isHead
        ? "Your head: it has another size. With a consistency proof of the operator, aop verify connects the two."
        : "Your head: it is not SIZE:ROOT, a number and 64 hex digits.",
    ),
    unbound,
  ]
}

function ok(says: string): Finding {
  return { kind: "ok", says }
}

function bad(says: string): Finding {
  return { kind: "bad", says }
}

function open(says: string): Finding {
  return { kind: "open", says }
}
