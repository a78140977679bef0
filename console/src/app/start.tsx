/** Renders the Console, or the reason why its configuration cannot be used. */

import { StrictMode } from "react"
import { createRoot } from "react-dom/client"

import { App } from "@/app/App"
import { Unconfigured } from "@/app/Unconfigured"
import { ConfigurationUnusable, runtimeConfig } from "@/config/runtime"
import { applyTheme } from "@/config/theme"

export function start(): void {
  applyTheme()
  const place = document.getElementById("console")
  if (place === null) throw new Error("the page has no place for the Console")
  createRoot(place).render(<StrictMode>{configured()}</StrictMode>)
}

function configured() {
  try {
    runtimeConfig()
  } catch (problem) {
    if (problem instanceof ConfigurationUnusable) return <Unconfigured problem={problem.message} />
    throw problem
  }
  return <App />
}
