/** The menu of the signed-in account: its id, its tokens, the theme, the keys and sign-out. */

import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { Copy, Keyboard, KeyRound, LogOut, Monitor, Moon, Sun } from "lucide-react"
import { useState } from "react"

import { me } from "@/api/queries"
import { signOut } from "@/api/signIn"
import { Button } from "@/components/Button"
import { Menu, MenuItem, MenuLabel, MenuSeparator } from "@/components/Menu"
import { useTell } from "@/components/Toasts"
import { chooseTheme, currentTheme, type Theme } from "@/config/theme"
import { AccountName } from "@/domain/AccountName"

const THEMES: ReadonlyArray<[Theme, string, typeof Sun]> = [
  ["light", "Light", Sun],
  ["dark", "Dark", Moon],
  ["system", "System", Monitor],
]

export function SessionMenu({ onShortcuts }: { readonly onShortcuts: () => void }) {
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
      <AccountId />
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
      <MenuItem onSelect={onShortcuts}>
        <Keyboard aria-hidden />
        Keyboard shortcuts
        <kbd aria-hidden className="ml-auto font-mono text-xs text-muted">
          ?
        </kbd>
      </MenuItem>
      <MenuItem onSelect={() => void signOut()}>
        <LogOut aria-hidden />
        Sign out
      </MenuItem>
    </Menu>
  )
}

/** Others need it to share a Workspace, and a Card names it as its owner. */
function AccountId() {
  const { data: account } = useQuery(me())
  const tell = useTell()
  if (account === undefined) return null
  const copy = () =>
    navigator.clipboard.writeText(account.principalId).then(
      () => tell("The account id is copied."),
      () => tell("The browser did not allow copying."),
    )
  return (
    <>
      <MenuLabel>
        Signed in as <span className="id-text text-ink">{account.principalId}</span>
      </MenuLabel>
      <MenuItem onSelect={() => void copy()}>
        <Copy aria-hidden />
        Copy the account id
      </MenuItem>
    </>
  )
}
