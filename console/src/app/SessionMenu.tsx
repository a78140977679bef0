/** The menu of the signed-in user: theme and sign-out. */

import { CircleUser, LogOut, Monitor, Moon, Sun } from "lucide-react"
import { useState } from "react"

import { useCurrentWorkspace } from "@/api/currentWorkspace"
import { signOut } from "@/api/session"
import { Button } from "@/components/Button"
import { Menu, MenuItem, MenuLabel, MenuSeparator } from "@/components/Menu"
import { chooseTheme, currentTheme, type Theme } from "@/config/theme"

const THEMES: ReadonlyArray<[Theme, string, typeof Sun]> = [
  ["light", "Light", Sun],
  ["dark", "Dark", Moon],
  ["system", "System", Monitor],
]

export function SessionMenu() {
  const { workspaces } = useCurrentWorkspace()
  const [theme, setTheme] = useState(currentTheme)
  const principal = workspaces[0]?.ownerId
  const choose = (next: Theme) => {
    chooseTheme(next)
    setTheme(next)
  }
  return (
    <Menu
      align="start"
      trigger={
        <Button tone="quiet" className="w-full justify-start">
          <CircleUser aria-hidden />
          <span className="truncate">{principal ?? "Signed in"}</span>
        </Button>
      }
    >
      <MenuLabel>Appearance</MenuLabel>
      {THEMES.map(([name, label, Icon]) => (
        <MenuItem key={name} onSelect={() => choose(name)} aria-current={theme === name ? "true" : undefined}>
          <Icon aria-hidden />
          {label}
          {theme === name ? <span className="ml-auto text-xs text-muted">current</span> : null}
        </MenuItem>
      ))}
      <MenuSeparator />
      <MenuItem onSelect={signOut}>
        <LogOut aria-hidden />
        Sign out
      </MenuItem>
    </Menu>
  )
}
