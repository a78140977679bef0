/** A choice among named things, found by typing: arrow keys move, Enter chooses, Escape keeps what was chosen. */

import { ChevronsUpDown } from "lucide-react"
import { useEffect, useRef, useState, type KeyboardEvent } from "react"

import { cn } from "@/components/classes"
import { TextInput, type ControlIds } from "@/components/Field"
import { moved, suggested, type ComboboxOption } from "@/components/comboboxOptions"

interface ComboboxProps {
  readonly ids: ControlIds
  readonly options: ReadonlyArray<ComboboxOption>
  readonly value: string | undefined
  readonly placeholder: string
  readonly onChoose: (value: string) => void
}

export function Combobox({ ids, options, value, placeholder, onChoose }: ComboboxProps) {
  const [typed, setTyped] = useState<string>()
  const [active, setActive] = useState<string>()
  const [open, setOpen] = useState(false)
  const list = useRef<HTMLDivElement>(null)
  const chosen = options.find((option) => option.value === value)
  const found = suggested(options, typed ?? "")
  const shown =
    active !== undefined && found.some((option) => option.value === active) ? active : found[0]?.value
  const listId = `${ids.id}-list`
  useEffect(() => {
    list.current?.querySelector("[data-active]")?.scrollIntoView({ block: "nearest" })
  }, [shown, open])

  const close = () => {
    setOpen(false)
    setTyped(undefined)
    setActive(undefined)
  }
  const show = () => {
    setOpen(true)
    setActive((kept) => kept ?? value)
  }
  const choose = (option: ComboboxOption | undefined) => {
    if (option === undefined || option.disabled === true) return
    close()
    if (option.value !== value) onChoose(option.value)
  }
  const byKeyboard = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault()
      if (open) setActive(moved(found, shown, event.key === "ArrowDown" ? 1 : -1))
      else show()
    } else if (event.key === "Enter" && open && !event.ctrlKey && !event.metaKey) {
      event.preventDefault()
      choose(found.find((option) => option.value === shown))
    } else if (event.key === "Escape" && open) {
      event.preventDefault()
      close()
    }
  }
  return (
    <div className="relative">
      <TextInput
        {...ids}
        role="combobox"
        aria-expanded={open}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={open && shown !== undefined ? optionId(listId, shown) : undefined}
        placeholder={placeholder}
        className="pr-8"
        value={typed ?? chosen?.label ?? ""}
        onChange={(event) => {
          setTyped(event.target.value)
          setActive(undefined)
          setOpen(true)
        }}
        onFocus={(event) => event.target.select()}
        onClick={show}
        onBlur={close}
        onKeyDown={byKeyboard}
      />
      <ChevronsUpDown aria-hidden className="pointer-events-none absolute top-2 right-2 size-4 text-muted" />
      <div
        ref={list}
        id={listId}
        role="listbox"
        aria-label="Suggestions"
        hidden={!open}
        className="absolute z-30 mt-1 max-h-72 w-full min-w-64 overflow-y-auto rounded-lg border border-line bg-raised p-1 shadow-raised"
      >
        {found.map((option) => (
          // The keyboard stays in the text box, which names the active one.
          // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
          <div
            key={option.value}
            id={optionId(listId, option.value)}
            role="option"
            aria-selected={option.value === value}
            aria-disabled={option.disabled}
            tabIndex={-1}
            data-active={option.value === shown || undefined}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => choose(option)}
            className={cn(
              "cursor-pointer rounded-md px-2 py-1.5 text-sm",
              option.value === shown && "bg-hover",
              option.disabled === true && "cursor-not-allowed text-muted",
            )}
          >
            <span className="block truncate font-medium">{option.label}</span>
            <span className="block truncate text-xs text-muted">{option.detail ?? option.value}</span>
          </div>
        ))}
        {found.length === 0 ? (
          <div role="option" aria-disabled aria-selected={false} className="px-2 py-1.5 text-sm text-muted">
            Nothing has this name.
          </div>
        ) : null}
      </div>
    </div>
  )
}

function optionId(listId: string, value: string): string {
  return `${listId}-${value}`
}
