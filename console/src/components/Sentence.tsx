/** A sentence of the contract or of the Console; what one types is shown as code. */

import { Fragment } from "react"

import { partsOf } from "@/components/commands"

export function Sentence({ text: sentence = "" }: { readonly text: string | undefined }) {
  return (
    <>
      {partsOf(sentence).map(({ text, isCommand }, index) =>
        isCommand ? (
          <code key={index} className="rounded-sm border border-control/50 px-1 id-text whitespace-nowrap">
            {text}
          </code>
        ) : (
          <Fragment key={index}>{text}</Fragment>
        ),
      )}
    </>
  )
}
