/** The frame around every signed-in screen: navigation at the side, or behind a button where there is no room. */

import { Outlet, useLocation } from "@tanstack/react-router"
import { Menu as MenuIcon, Search } from "lucide-react"
import { useEffect, useRef, useState } from "react"

import { Finder, type Opened } from "@/app/Finder"
import { Navigation } from "@/app/Navigation"
import { Brand } from "@/components/Brand"
import { Button } from "@/components/Button"
import { AccountName } from "@/domain/AccountName"
import { RunBar } from "@/features/playground/RunBar"

export function Shell() {
  const main = useRef<HTMLElement>(null)
  const { pathname } = useLocation()
  const [openedAt, setOpenedAt] = useState<string>()
  const [first] = useState(pathname)
  const [opened, setOpened] = useState<Opened>()
  const open = openedAt === pathname // a navigation closes the menu
  useEffect(() => {
    // A new screen is announced and read from its top; the first one keeps the browser's own focus.
    if (pathname !== first) main.current?.focus({ preventScroll: true })
  }, [pathname, first])
  return (
    <div className="flex min-h-dvh flex-col lg:flex-row">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:m-2 focus:rounded-md focus:bg-raised focus:px-3 focus:py-2"
      >
        Skip to content
      </a>
      <header className="flex items-center justify-between gap-3 border-b border-line bg-surface px-4 py-2 lg:hidden">
        <Brand />
        <AccountName className="ml-auto min-w-0 text-sm text-muted" />
        <Button tone="quiet" size="icon" aria-label="Search" onClick={() => setOpened("find")}>
          <Search aria-hidden />
        </Button>
        <Button
          tone="quiet"
          size="icon"
          aria-label="Navigation"
          aria-expanded={open}
          aria-controls="navigation"
          onClick={() => setOpenedAt(open ? undefined : pathname)}
        >
          <MenuIcon aria-hidden />
        </Button>
      </header>
      <aside
        id="navigation"
        className={`${open ? "block" : "hidden"} border-b border-line bg-surface lg:sticky lg:top-0 lg:flex lg:h-dvh lg:w-60 lg:shrink-0 lg:flex-col lg:border-r lg:border-b-0`}
      >
        <div className="hidden px-4 pt-4 pb-3 lg:block">
          <Brand />
          <button
            type="button"
            aria-keyshortcuts="/ Control+K"
            className="mt-3 flex h-8 w-full cursor-pointer items-center gap-2 rounded-md border border-control bg-canvas px-2.5 text-sm text-muted hover:border-muted hover:text-ink"
            onClick={() => setOpened("find")}
          >
            <Search aria-hidden className="size-4" />
            <span className="min-w-0 flex-1 truncate text-left">Find or paste an id</span>
            <kbd aria-hidden className="rounded border border-line-strong px-1.5 font-mono text-xs leading-4">
              /
            </kbd>
          </button>
        </div>
        <Navigation onShortcuts={() => setOpened("shortcuts")} />
      </aside>
      <main id="main" ref={main} tabIndex={-1} className="min-w-0 flex-1 outline-none">
        <div className="min-h-[calc(100dvh-3rem)]">
          <Outlet />
        </div>
        <RunBar />
      </main>
      <Finder opened={opened} onChange={setOpened} />
    </div>
  )
}
