/** What an Agent said, shown by its shape: text, table or tree. */

import { useEffect, useMemo, useRef, type ReactNode } from "react"

import type { Json } from "@/api/contract.gen"
import { CopyButton } from "@/components/CopyButton"
import { JsonView } from "@/components/JsonView"
import { Tabs } from "@/components/Tabs"
import { ChunkList } from "@/features/playground/ChunkList"
import { ResultTable } from "@/features/playground/ResultTable"
import type { Run } from "@/features/playground/run"
import { shapeOf, shapeOfChunks, type Shape } from "@/features/playground/shape"

/** Up to so many chunks are shown as one tree, more as a list. */
const TREE_CHUNKS = 20

export function Output({ run }: { readonly run: Run }) {
  if (run.stream) return <ChunkOutput chunks={run.chunks} isWhole={run.outcome?.state === "succeeded"} />
  return run.result === undefined ? null : <ResultOutput result={run.result} />
}

function ResultOutput({ result }: { readonly result: Json }) {
  const shape = useMemo(() => shapeOf(result), [result])
  return (
    <Views
      shape={shape}
      plain={{ label: "Tree", content: <JsonView value={result} label="Output" /> }}
      copied={typeof result === "string" ? result : JSON.stringify(result, null, 2)}
    />
  )
}

function ChunkOutput({
  chunks,
  isWhole,
}: {
  readonly chunks: ReadonlyArray<Json>
  readonly isWhole: boolean
}) {
  const shape = useMemo(() => shapeOfChunks(chunks), [chunks])
  if (chunks.length === 0)
    return isWhole ? <p className="text-sm text-muted">The Agent sent no chunk.</p> : null
  const isShort = chunks.length <= TREE_CHUNKS
  return (
    <Views
      shape={shape}
      plain={{
        label: "Chunks",
        content: isShort ? <JsonView value={chunks} label="Output" /> : <ChunkList chunks={chunks} />,
      }}
      copied={() => (shape.kind === "text" ? shape.text : JSON.stringify(chunks, null, 2))}
    />
  )
}

interface ViewsProps {
  readonly shape: Shape
  readonly plain: { readonly label: string; readonly content: ReactNode }
  readonly copied: string | (() => string)
}

function Views({ shape, plain, copied }: ViewsProps) {
  const copy = <CopyButton text={typeof copied === "string" ? copied : copied()} what="result" withLabel />
  if (shape.kind === "tree") {
    return (
      <div className="space-y-2">
        {plain.content}
        <div className="flex justify-end">{copy}</div>
      </div>
    )
  }
  const shaped =
    shape.kind === "text"
      ? { name: "shaped" as const, label: "Text", content: <RunningText text={shape.text} /> }
      : { name: "shaped" as const, label: "Table", content: <ResultTable table={shape.table} /> }
  return (
    <div className="relative">
      <div className="absolute top-1 right-0 z-10">{copy}</div>
      <Tabs label="Result as" tabs={[shaped, { name: "plain", ...plain }]} />
    </div>
  )
}

/** Text that may still grow; it stays scrolled to the end if it was there. */
function RunningText({ text }: { readonly text: string }) {
  const box = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  useEffect(() => {
    if (isAtEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight
  }, [text])
  return (
    <div
      ref={box}
      role="region"
      aria-label="Output"
      // A region that scrolls must be reachable with the keyboard.
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < 24
      }}
      className="max-h-[32rem] overflow-auto rounded-md border border-line bg-sunken p-3 text-base leading-6 break-words whitespace-pre-wrap"
    >
      {text}
    </div>
  )
}
