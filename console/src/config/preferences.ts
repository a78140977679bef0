/** Choices that outlive the tab: never a secret, never needed for anything to work. */

export type Preference = "theme" | "workspace" | "provider" | "invocationViews" | "traceViews"

export function preferred(name: Preference): string | undefined {
  try {
    return localStorage.getItem(`aop.${name}`) ?? undefined
  } catch {
    return undefined
  }
}

export function prefer(name: Preference, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(`aop.${name}`)
    else localStorage.setItem(`aop.${name}`, value)
  } catch {
    // A browser that keeps nothing still shows everything.
  }
}
