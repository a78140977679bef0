/** Light, dark or as the system says; applied to the document's root. */

import { prefer, preferred } from "@/config/preferences"

export type Theme = "system" | "light" | "dark"

export function currentTheme(): Theme {
  const kept = preferred("theme")
  return kept === "light" || kept === "dark" ? kept : "system"
}

export function applyTheme(theme: Theme = currentTheme()): void {
  if (theme === "system") delete document.documentElement.dataset["theme"]
  else document.documentElement.dataset["theme"] = theme
}

export function chooseTheme(theme: Theme): void {
  prefer("theme", theme === "system" ? undefined : theme)
  applyTheme(theme)
}
