/** The menu of the signed-in account: its tokens, the theme and sign-out. */

import { Link } from "@tanstack/react-router"
import { KeyRound, LogOut, Monitor, Moon, Sun } from "lucide-react"
import { useState } from "react"

import { signOut } from "@/api/signIn"
import { Button } from "@/components/Button"
import { Menu, MenuItem, MenuLabel, MenuSeparator } from "@/components/Menu"
import { chooseTheme, currentTheme, type Theme } from "@/config/theme"
import { AccountName } from "@/domain/AccountName"

const THEMES: ReadonlyArray<[Theme, string, typeof Sun]> = [
  ["light", "Light", Sun],
  ["dark", "Dark", Moon],
  ["system", "System", Monitor],
]

export function SessionMenu() {
  const [theme, setTheme] = useState(currentTheme)
  const choose = (next: Theme) => {
    chooseTheme(next)
    setTheme(next)
  }
  return (
    <Menu
      align="start"
      trigger={
        <Button tone="quiet" className="w-full justify-start">
          <AccountName />
        </Button>
      }
    >
      <MenuItem asChild>
        <Link to="/tokens">
          <KeyRound aria-hidden />
          Tokens and sessions
        </Link>
      </MenuItem>
      <MenuSeparator />
      <MenuLabel>Appearance</MenuLabel>
      {THEMES.map(([name, label, Icon]) => (
        <MenuItem key={name} onSelect={() => choose(name)} aria-current={theme === name ? "true" : undefined}>
          <Icon aria-hidden />
          {label}
          {theme === name ? <span className="ml-auto text-xs text-muted">current</span> : null}
        </MenuItem>
      ))}
      <MenuSeparator />
      <MenuItem onSelect={() => void signOut()}>
        <LogOut aria-hidden />
        Sign out
      </MenuItem>
    </Menu>
  )
}
