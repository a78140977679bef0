/** The frame of every step of a sign-in: one column, one heading, nothing else. */

import type { ReactNode } from "react"

interface SignInFrameProps {
  readonly title: ReactNode
  readonly children: ReactNode
}

export function SignInFrame({ title, children }: SignInFrameProps) {
  return (
    <main className="flex min-h-dvh items-center justify-center px-4 py-12">
      <div className="w-full max-w-sm space-y-4">
        <img src="/icon.svg" alt="" width={40} height={40} className="mb-5" />
        <h1 className="text-xl font-semibold tracking-tight break-words">{title}</h1>
        {children}
      </div>
    </main>
  )
}
