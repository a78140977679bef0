/** The keys that work on every page, and those of single pages. */

import { Fragment } from "react"

import { Dialog } from "@/components/Dialog"

const KEYS: ReadonlyArray<readonly [what: string, ...keys: ReadonlyArray<string>]> = [
  ["Search, open an id, start an action", "/", "Ctrl K"],
  ["Show these keys", "?"],
  ["Close a dialog or a menu", "Esc"],
  ["Trace: go through the calls", "↑", "↓"],
  ["Trace: open and close a call", "→", "←"],
]

export function ShortcutsDialog({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog open onClose={onClose} title="Keyboard shortcuts">
      <dl className="grid grid-cols-[1fr_auto] gap-x-6 gap-y-2.5 text-sm">
        {KEYS.map(([what, ...keys]) => (
          <Fragment key={what}>
            <dt>{what}</dt>
            <dd className="flex justify-end gap-1.5">
              {keys.map((key) => (
                <kbd
                  key={key}
                  className="rounded border border-line-strong bg-sunken px-1.5 font-mono text-xs leading-5"
                >
                  {key}
                </kbd>
              ))}
            </dd>
          </Fragment>
        ))}
      </dl>
    </Dialog>
  )
}
