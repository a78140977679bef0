/** Many chunks, one line each; the chosen one whole below. */

import { useState } from "react"

import type { Json } from "@/api/contract.gen"
import { DataTable, type Column } from "@/components/DataTable"
import { count } from "@/components/format"
import { JsonView } from "@/components/JsonView"

interface NumberedChunk {
  readonly index: number
  readonly chunk: Json
}

export function ChunkList({ chunks }: { readonly chunks: ReadonlyArray<Json> }) {
  const [chosen, setChosen] = useState<number>()
  const columns: ReadonlyArray<Column<NumberedChunk>> = [
    { name: "Chunk", width: "4rem", align: "end", cell: ({ index }) => count(index) },
    {
      name: "Value",
      width: "minmax(0,1fr)",
      cell: ({ index, chunk }) => (
        <button
          type="button"
          aria-pressed={index === chosen}
          aria-label={`Chunk ${index}`}
          title="Show the whole chunk"
          className="block w-full cursor-pointer truncate text-left font-mono text-xs hover:text-accent-strong"
          onClick={() => setChosen(index === chosen ? undefined : index)}
        >
          {JSON.stringify(chunk)}
        </button>
      ),
    },
  ]
  const shown = chosen === undefined ? undefined : chunks[chosen]
  return (
    <div className="space-y-3">
      <DataTable
        label="Chunks"
        columns={columns}
        rows={chunks.map((chunk, index) => ({ index, chunk }))}
        keyOf={({ index }) => String(index)}
        rowHeight={34}
        isMarked={({ index }) => index === chosen}
        className="max-h-96"
      />
      {shown === undefined ? null : <JsonView value={shown} label={`Chunk ${chosen ?? 0}`} />}
    </div>
  )
}
