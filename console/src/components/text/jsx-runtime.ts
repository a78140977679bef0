/**
 * The one place where text becomes part of the page: every element is made here (`jsxImportSource`), so that no screen can
 * forget to show hidden characters as marks.
 */

import { Fragment, jsx as make, jsxs as makeAll, type JSX } from "react/jsx-runtime"

import { cleaned, MARK, pieces } from "@/components/text/hidden"

export { Fragment, type JSX }

type Type = Parameters<typeof make>[0]
type Props = Record<string, unknown>
type Make = typeof make

/** Elements that hold text alone; a mark in them has no title. */
const TEXT_ONLY = new Set(["option", "textarea", "title", "text", "tspan", "style", "script"])
const SPOKEN = /^(?:title|alt|label|placeholder|aria-.+)$/
const SPOKEN_OF_COMPONENT = /^aria-/

export const jsx: Make = (type, props, key) => make(type, safeProps(type, props), key)

export const jsxs: Make = (type, props, key) => makeAll(type, safeProps(type, props), key)

/** Children of components as well: those of packages make their elements without this file. */
function safeProps(type: Type, props: unknown): unknown {
  const original = props as Props
  const attribute = typeof type === "string" ? SPOKEN : SPOKEN_OF_COMPONENT
  let changed: Props | undefined
  for (const [name, value] of Object.entries(original)) {
    const next = name === "children" ? children(type, value) : attribute.test(name) ? spoken(value) : value
    if (next !== value) changed = { ...(changed ?? original), [name]: next }
  }
  return changed ?? original
}

function spoken(value: unknown): unknown {
  return typeof value === "string" ? cleaned(value) : value
}

function children(type: Type, value: unknown): unknown {
  if (typeof value === "string") return marked(type, value)
  if (!Array.isArray(value)) return value
  const next: unknown[] = value.map((child: unknown) =>
    typeof child === "string" ? marked(type, child) : child,
  )
  return next.some((child, index) => child !== value[index]) ? next : value
}

/** The text itself when it hides nothing, which is nearly always. */
function marked(type: Type, text: string): unknown {
  if (typeof type === "string" && TEXT_ONLY.has(type)) return cleaned(text)
  const found = pieces(text)
  if (found.length === 1 && typeof found[0] === "string") return text
  const parts = found.map((piece) =>
    typeof piece === "string"
      ? piece
      : make("span", { className: "hidden-character", title: piece.name, children: MARK }),
  )
  return makeAll("bdi", { children: parts })
}
