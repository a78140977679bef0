/** The menu of views: the usual ones, those that were saved in this browser, and saving the present one. */

import { Bookmark, Check, Plus, Trash2 } from "lucide-react"
import { useState } from "react"

import { Button } from "@/components/Button"
import { Dialog } from "@/components/Dialog"
import { Field, TextInput } from "@/components/Field"
import { Menu, MenuItem, MenuLabel, MenuSeparator } from "@/components/Menu"
import { prefer, preferred, type Preference } from "@/config/preferences"
import { NO_FILTERS, type ListSearch } from "@/features/invocations/search"
import {
  isSameView,
  MOST_LETTERS,
  textOf,
  USUAL_VIEWS,
  viewsOf,
  withoutView,
  withView,
  type View,
} from "@/features/invocations/views"

interface SavedViewsProps {
  /** Where they are kept: each list has its own. */
  readonly kept: Extract<Preference, "invocationViews" | "traceViews">
  readonly search: ListSearch
  readonly onChange: (search: ListSearch) => void
}

export function SavedViews({ kept, search, onChange }: SavedViewsProps) {
  const [views, setViews] = useState(() => viewsOf(preferred(kept)))
  const [dialog, setDialog] = useState<"save" | "remove">()
  const keep = (next: ReadonlyArray<View>) => {
    setViews(next)
    prefer(kept, textOf(next))
  }
  const choose = (view: View) => onChange({ ...NO_FILTERS, order: undefined, ...view.search })
  const item = (view: View) => (
    <MenuItem key={view.name} onSelect={() => choose(view)}>
      <span className="min-w-0 flex-1 truncate">{view.name}</span>
      {isSameView(view.search, search) ? <Check aria-label="shown now" /> : null}
    </MenuItem>
  )
  return (
    <>
      <Menu
        trigger={
          <Button>
            <Bookmark aria-hidden />
            Views
          </Button>
        }
      >
        <MenuLabel>Usual</MenuLabel>
        {USUAL_VIEWS.map(item)}
        {views.length > 0 ? <MenuLabel>Saved in this browser</MenuLabel> : null}
        {views.map(item)}
        <MenuSeparator />
        <MenuItem onSelect={() => setDialog("save")}>
          <Plus aria-hidden />
          Save this view…
        </MenuItem>
        {views.length > 0 ? (
          <MenuItem onSelect={() => setDialog("remove")}>
            <Trash2 aria-hidden />
            Remove views…
          </MenuItem>
        ) : null}
      </Menu>
      <SaveDialog
        open={dialog === "save"}
        onClose={() => setDialog(undefined)}
        onSave={(name) => {
          keep(withView(views, { name, search }))
          setDialog(undefined)
        }}
      />
      <RemoveDialog
        open={dialog === "remove"}
        views={views}
        onClose={() => setDialog(undefined)}
        onRemove={(name) => keep(withoutView(views, name))}
      />
    </>
  )
}

interface SaveDialogProps {
  readonly open: boolean
  readonly onClose: () => void
  readonly onSave: (name: string) => void
}

function SaveDialog({ open, onClose, onSave }: SaveDialogProps) {
  const [name, setName] = useState("")
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Save this view"
      description="Its filters and order are kept in this browser under a name."
    >
      <form
        className="flex items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault()
          if (name.trim() !== "") onSave(name)
        }}
      >
        <Field label="Name" className="flex-1">
          {(control) => (
            <TextInput
              {...control}
              maxLength={MOST_LETTERS}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <Button type="submit" tone="primary" disabled={name.trim() === ""}>
          Save
        </Button>
      </form>
    </Dialog>
  )
}

interface RemoveDialogProps {
  readonly open: boolean
  readonly views: ReadonlyArray<View>
  readonly onClose: () => void
  readonly onRemove: (name: string) => void
}

function RemoveDialog({ open, views, onClose, onRemove }: RemoveDialogProps) {
  return (
    <Dialog open={open} onClose={onClose} title="Remove saved views">
      <ul className="divide-y divide-line">
        {views.map(({ name }) => (
          <li key={name} className="flex items-center justify-between gap-3 py-1.5 text-sm">
            <span className="min-w-0 truncate">{name}</span>
            <Button size="small" onClick={() => onRemove(name)}>
              Remove<span className="sr-only"> {name}</span>
            </Button>
          </li>
        ))}
      </ul>
    </Dialog>
  )
}
