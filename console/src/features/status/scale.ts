/** How high the bars of the chart are drawn: a few bursts must not flatten all the others. */

/** Bars below this share of the highest can hardly be told from nothing. */
const LOWEST_READABLE = 1 / 8
/** More bars than this are no exception but what usually happens, and are not cut. */
const MOST_CUT = 0.1

export interface Scale {
  /** What the full height stands for. */
  readonly top: number
  /** How many bars are higher than that. */
  readonly cut: number
}

/** Up to the highest bar; if a few are many times higher than the rest, only a little above the rest. */
export function scaleOf(heights: ReadonlyArray<number>): Scale {
  const sorted = [...heights].sort((a, b) => b - a)
  const highest = Math.max(1, sorted[0] ?? 0)
  const above = widestGap(sorted.slice(0, Math.max(1, Math.floor(sorted.length * MOST_CUT)) + 1))
  const rest = sorted[above] ?? 0
  if (rest === 0 || rest >= highest * LOWEST_READABLE) return { top: highest, cut: 0 }
  const top = roundAbove(rest)
  return { top, cut: sorted.filter((height) => height > top).length }
}

/** After how many of the highest the next one is lower by the largest factor. */
function widestGap(highest: ReadonlyArray<number>): number {
  const factors = highest.slice(1).map((next, place) => (next === 0 ? 0 : (highest[place] ?? 0) / next))
  return factors.indexOf(Math.max(...factors)) + 1
}

/** 1, 2 or 5 times a power of ten. */
function roundAbove(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  return power * ([1, 2, 5].find((step) => step * power >= value) ?? 10)
}
