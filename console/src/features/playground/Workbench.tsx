/** One Skill being tried: its input, how it is run, and what came back. */

import { CornerDownLeft, Play, Square } from "lucide-react"
import { useCallback, useMemo, useState, type KeyboardEvent } from "react"

import type { AgentCard, AgentCardSkill } from "@/api/contract.gen"
import { Button } from "@/components/Button"
import { Panel } from "@/components/Panel"
import { InputEditor, type EditedInput } from "@/features/playground/InputEditor"
import { ModeChoice } from "@/features/playground/ModeChoice"
import { RunPanel } from "@/features/playground/RunPanel"
import { firstInput } from "@/features/playground/formValue"
import { readInput, writeInput } from "@/features/playground/inputText"
import { problemIn } from "@/features/playground/run"
import type { PlaygroundSearch } from "@/features/playground/search"
import { useRun, type Running } from "@/features/playground/useRun"
import { unresolved } from "@/features/playground/violations"

interface WorkbenchProps {
  readonly workspaceId: string
  readonly card: AgentCard
  readonly skill: AgentCardSkill
  readonly search: PlaygroundSearch
  readonly onSearch: (change: PlaygroundSearch) => void
}

const NONE: ReadonlySet<string> = new Set()

export function Workbench({ workspaceId, card, skill, search, onSearch }: WorkbenchProps) {
  const [input, setInput] = useState<EditedInput>(() => ({ value: firstInput(skill.inputSchema) }))
  const [unfinished, setUnfinished] = useState(NONE)
  const running = useRun(workspaceId)
  const { run, start } = running
  const stream = card.limits.streaming && search.mode !== "json"
  const isReadable = input.text === undefined || readInput(input.text).error === undefined
  const isReady = isReadable && unfinished.size === 0
  const violations = useMemo(
    () => (run === undefined ? [] : unresolved(problemIn(run)?.violations ?? [], run.input, input.value)),
    [run, input.value],
  )
  const onUnfinished = useCallback((pointer: string, isUnfinished: boolean) => {
    setUnfinished((known) => {
      if (known.has(pointer) === isUnfinished) return known
      return isUnfinished
        ? new Set([...known, pointer])
        : new Set([...known].filter((other) => other !== pointer))
    })
  }, [])
  const invoke = (value: EditedInput["value"], asStream: boolean) =>
    start({ agentId: card.agentId, capability: skill.id, input: value, stream: asStream })
  const submit = () => {
    if (isReady && !isRunning(running)) invoke(input.value, stream)
  }
  const byKeyboard = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit()
  }
  return (
    <div className="grid items-start gap-5 lg:grid-cols-2">
      <Panel title={skill.name} description={skill.description} padded={false}>
        {/* Ctrl and Enter run it from any of its fields. */}
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions */}
        <form
          noValidate
          aria-label="Invocation"
          onSubmit={(event) => {
            event.preventDefault()
            submit()
          }}
          onKeyDown={byKeyboard}
        >
          <div className="p-4 pt-2">
            <InputEditor
              schema={skill.inputSchema}
              input={input}
              violations={violations}
              view={search.view ?? "form"}
              onView={(view) => onSearch({ view: view === "form" ? undefined : view })}
              onChange={setInput}
              onUnfinished={onUnfinished}
            />
          </div>
          <div className="sticky bottom-0 flex flex-wrap items-center justify-between gap-3 border-t border-line bg-surface px-4 py-3">
            <ModeChoice
              stream={stream}
              offersStream={card.limits.streaming}
              onChange={(asStream) => onSearch({ mode: asStream ? undefined : "json" })}
            />
            <RunButtons running={running} isReady={isReady} />
          </div>
        </form>
      </Panel>
      <RunPanel
        workspaceId={workspaceId}
        request={{ agentId: card.agentId, capability: skill.id }}
        run={run}
        onAgain={(again) => {
          setInput({ value: again.input, text: search.view === "json" ? writeInput(again.input) : undefined })
          invoke(again.input, again.stream)
        }}
      />
    </div>
  )
}

function RunButtons({ running, isReady }: { readonly running: Running; readonly isReady: boolean }) {
  const isBusy = isRunning(running)
  return (
    <div className="flex items-center gap-2">
      <span className="hidden items-center gap-1 text-xs text-muted sm:inline-flex" aria-hidden>
        Ctrl <CornerDownLeft className="size-3" />
      </span>
      <Button
        type="submit"
        tone="primary"
        // Stays focusable while an Invocation runs, so that the keyboard is not thrown off the page.
        aria-disabled={isBusy || !isReady}
        className="aria-disabled:opacity-55"
      >
        <Play aria-hidden />
        Run
      </Button>
      <Button tone="danger" disabled={!isBusy} onClick={running.stop}>
        <Square aria-hidden />
        Stop
      </Button>
    </div>
  )
}

function isRunning({ run }: Running): boolean {
  return run !== undefined && run.outcome === undefined
}
