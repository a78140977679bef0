/** One Skill being tried: its input, how it is run, and what came back. */

import { CornerDownLeft, Play, Square } from "lucide-react"
import { useCallback, useMemo, useRef, useState, type KeyboardEvent } from "react"

import type { AgentCard, AgentCardSkill, InstallationItem } from "@/api/contract.gen"
import { keepInput, recentInputs } from "@/api/recentInputs"
import { Button } from "@/components/Button"
import { Panel } from "@/components/Panel"
import { plural } from "@/components/format"
import { brokenRules } from "@/domain/schemaCheck"
import { CopyAs } from "@/features/playground/CopyAs"
import { InputEditor, type EditedInput } from "@/features/playground/InputEditor"
import { ModeChoice } from "@/features/playground/ModeChoice"
import { RunPanel } from "@/features/playground/RunPanel"
import { firstInput } from "@/features/playground/formValue"
import { readInput, writeInput } from "@/features/playground/inputText"
import { problemIn } from "@/features/playground/run"
import { MAX_RUNNING } from "@/features/playground/runs"
import type { PlaygroundSearch } from "@/features/playground/search"
import { useRun, type Running } from "@/features/playground/useRun"
import { ofInput, unresolved } from "@/features/playground/violations"

interface WorkbenchProps {
  readonly workspaceId: string
  readonly card: AgentCard
  readonly skill: AgentCardSkill
  readonly installations: ReadonlyArray<InstallationItem>
  readonly search: PlaygroundSearch
  readonly onSearch: (change: PlaygroundSearch) => void
}

const NONE: ReadonlySet<string> = new Set()

export function Workbench({ workspaceId, card, skill, installations, search, onSearch }: WorkbenchProps) {
  const tried = { workspaceId, agentId: card.agentId, capability: skill.id }
  const running = useRun(tried, skill.name)
  const { run, start } = running
  const [input, setInput] = useState<EditedInput>(() => ({
    value: run?.input ?? firstInput(skill.inputSchema),
  }))
  const [unfinished, setUnfinished] = useState(NONE)
  // What is wrong is said once somebody has pressed Run, not while the form is filled in for the first time.
  const [isChecked, setChecked] = useState(false)
  const [recent, setRecent] = useState(() => recentInputs(card.agentId, skill.id))
  const form = useRef<HTMLFormElement>(null)
  const stream = card.limits.streaming && search.mode !== "json"
  const isReadable = input.text === undefined || readInput(input.text).error === undefined
  const isReady = isReadable && unfinished.size === 0
  const broken = useMemo(
    () => ofInput(brokenRules(skill.inputSchema, input.value)),
    [skill.inputSchema, input.value],
  )
  const refused = useMemo(
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
  const invoke = (value: EditedInput["value"], asStream: boolean) => {
    keepInput(card.agentId, skill.id, value, Date.now())
    setRecent(recentInputs(card.agentId, skill.id))
    start({ agentId: card.agentId, capability: skill.id, input: value, stream: asStream })
  }
  const submit = () => {
    if (!isReady || running.isBusy || running.isFull) return
    setChecked(broken.length > 0)
    if (broken.length === 0) invoke(input.value, stream)
    // The first field that is wrong, once it is marked.
    else requestAnimationFrame(() => form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus())
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
          ref={form}
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
              violations={isChecked && broken.length > 0 ? broken : refused}
              recent={recent}
              view={search.view ?? "form"}
              onView={(view) => onSearch({ view: view === "form" ? undefined : view })}
              onChange={setInput}
              onUnfinished={onUnfinished}
            />
          </div>
          <div className="sticky bottom-0 space-y-2 border-t border-line bg-surface px-4 py-3">
            <NotSent wrong={isChecked ? broken.length : 0} running={running} />
            <div className="flex flex-wrap items-center justify-between gap-3">
              <ModeChoice
                stream={stream}
                offersStream={card.limits.streaming}
                onChange={(asStream) => onSearch({ mode: asStream ? undefined : "json" })}
              />
              <div className="ml-auto flex flex-wrap items-center gap-2">
                <CopyAs
                  call={{ ...tried, schema: skill.inputSchema, input: input.value, stream, installations }}
                  disabled={!isReady}
                />
                <RunButtons running={running} isReady={isReady} />
              </div>
            </div>
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

/** Why Run did not send anything. */
function NotSent({ wrong, running }: { readonly wrong: number; readonly running: Running }) {
  return (
    <p role="status" className="text-sm font-medium text-bad empty:hidden">
      {wrong > 0 ? `Nothing was sent: correct ${plural(wrong, "value")} above first.` : null}
      {wrong === 0 && running.isFull
        ? `${MAX_RUNNING} other runs go on in this tab. Stop one of them first.`
        : null}
    </p>
  )
}

function RunButtons({ running, isReady }: { readonly running: Running; readonly isReady: boolean }) {
  return (
    <div className="flex items-center gap-2">
      <span className="hidden items-center gap-1 text-xs text-muted sm:inline-flex" aria-hidden>
        Ctrl <CornerDownLeft className="size-3" />
      </span>
      <Button
        type="submit"
        tone="primary"
        // Stays focusable while an Invocation runs, so that the keyboard is not thrown off the page.
        aria-disabled={running.isBusy || running.isFull || !isReady}
        className="aria-disabled:opacity-55"
      >
        <Play aria-hidden />
        Run
      </Button>
      <Button tone="danger" disabled={!running.isBusy} onClick={running.stop}>
        <Square aria-hidden />
        Stop
      </Button>
    </div>
  )
}
