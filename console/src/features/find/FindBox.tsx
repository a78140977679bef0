/** The one box: paste any id, search Agents and Workspaces, or name an action; Enter goes there. */

import { useNavigate } from "@tanstack/react-router"
import { Search, X } from "lucide-react"
import { useEffect, useEffectEvent, useId, useState, type KeyboardEvent } from "react"

import { Button } from "@/components/Button"
import { useModal } from "@/components/Dialog"
import { Spinner } from "@/components/Spinner"
import { runtimeConfig } from "@/config/runtime"
import { OptionList } from "@/features/find/OptionList"
import { meaningOf } from "@/features/find/meaning"
import type { Option } from "@/features/find/option"
import { useResults } from "@/features/find/useResults"

const PAUSE_MILLISECONDS = 200

/** Rendered while open. */
export function FindBox({ onClose }: { readonly onClose: () => void }) {
  const element = useModal()
  const navigate = useNavigate()
  const listId = useId()
  const [text, setText] = useState("")
  const [at, setAt] = useState(0)
  const [wasEntered, setWasEntered] = useState(false)
  const [settled, settle] = useSettled(text)
  const results = useResults(meaningOf(settled, runtimeConfig().publicAgentOrigin))
  const options = results.flatMap((each) => each.options)
  const active = Math.min(at, options.length - 1)
  const isBusy = settled !== text || results.some((each) => each.isBusy === true)
  const go = (option: Option) => {
    onClose()
    void option.go(navigate)
  }
  const goOn = useEffectEvent(go)
  // Enter may come before the answer: a line that belongs to the text before is not what it means.
  const entered = wasEntered && !isBusy ? options[active] : undefined
  useEffect(() => {
    if (entered !== undefined) goOn(entered)
  }, [entered])
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0
    if (step !== 0 && options.length > 0) {
      event.preventDefault()
      setAt((active + step + options.length) % options.length)
    } else if (event.key === "Enter") {
      event.preventDefault()
      settle()
      setWasEntered(true)
    }
  }
  return (
    // A click on the backdrop closes; Escape, which the browser handles, is the same for the keyboard.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions, jsx-a11y/click-events-have-key-events
    <dialog
      ref={element}
      aria-label="Search"
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={(event) => {
        if (event.target === element.current) onClose()
      }}
      className="mx-auto mt-[min(12dvh,7rem)] mb-auto w-[calc(100vw-2rem)] max-w-2xl overflow-hidden rounded-xl border border-line bg-raised p-0 text-ink shadow-raised"
    >
      <div className="flex max-h-[min(70dvh,36rem)] flex-col">
        <div className="flex items-center gap-3 border-b border-line px-4">
          {isBusy && text !== "" ? (
            <Spinner className="shrink-0 text-muted" />
          ) : (
            <Search aria-hidden className="size-4 shrink-0 text-muted" />
          )}
          <input
            // The box is opened to type into it.
            autoFocus
            role="combobox"
            aria-label="Search Agents, Workspaces and actions, or paste an id"
            aria-expanded
            aria-controls={listId}
            aria-activedescendant={options[active] === undefined ? undefined : `${listId}-${active}`}
            aria-autocomplete="list"
            autoComplete="off"
            spellCheck={false}
            maxLength={256}
            placeholder="Search, paste an id, or type an action"
            className="h-12 min-w-0 flex-1 bg-transparent text-lg outline-none placeholder:text-muted"
            value={text}
            onChange={(event) => {
              setText(event.target.value)
              setAt(0)
              setWasEntered(false)
            }}
            onKeyDown={onKeyDown}
          />
          <Button tone="quiet" size="iconSmall" aria-label="Close" onClick={onClose}>
            <X aria-hidden />
          </Button>
        </div>
        <OptionList
          id={listId}
          results={results}
          isBusy={isBusy}
          active={active}
          onActive={setAt}
          onGo={go}
        />
        <p className="hidden border-t border-line px-4 py-2 text-xs text-muted sm:block">
          Ids of Invocations, Traces, Releases, Bindings, Installations, Agents and Workspaces open their
          page. Try “install” or “try” and a name.
        </p>
      </div>
    </dialog>
  )
}

/** The text after a pause in typing, and a way to end the pause. */
function useSettled(text: string): readonly [string, () => void] {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MILLISECONDS)
    return () => clearTimeout(timer)
  }, [text])
  return [settled, () => setSettled(text)]
}
