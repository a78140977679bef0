/** The order of versions (SemVer 2.0.0), and those an Installation could be upgraded to. */

import type { CatalogEntry } from "@/api/contract.gen"

/** Negative when `one` comes before `other`; equal precedence is decided by the text, as the platform does. */
export function compareVersions(one: string, other: string): number {
  const [left, right] = [parsed(one), parsed(other)]
  for (let part = 0; part < 3; part += 1) {
    const difference = compareNumbers(left.core[part] ?? "0", right.core[part] ?? "0")
    if (difference !== 0) return difference
  }
  return comparePreReleases(left.preRelease, right.preRelease) || compareTexts(one, other)
}

function isPreRelease(version: string): boolean {
  return parsed(version).preRelease.length > 0
}

/** Whether somebody on the one version is told of the other; of a pre-release only those who are on one. */
export function isUpgrade(installed: string, offered: string): boolean {
  return compareVersions(offered, installed) > 0 && (isPreRelease(installed) || !isPreRelease(offered))
}

export interface OtherVersions {
  /** All that could be installed instead, the highest first. */
  readonly all: ReadonlyArray<CatalogEntry>
  /** The one to upgrade to; a pre-release only for those who are on one. */
  readonly newer?: CatalogEntry
}

export function otherVersions(versions: ReadonlyArray<CatalogEntry>, installed: string): OtherVersions {
  const all = versions
    .filter((entry) => entry.installable && entry.version !== installed)
    .sort((one, other) => compareVersions(other.version, one.version))
  const newer = all.find(({ version }) => isUpgrade(installed, version))
  return { all, newer }
}

interface Parsed {
  readonly core: ReadonlyArray<string>
  readonly preRelease: ReadonlyArray<string>
}

function parsed(version: string): Parsed {
  const [precedence = ""] = version.split("+")
  const dash = precedence.indexOf("-")
  const core = dash === -1 ? precedence : precedence.slice(0, dash)
  return { core: core.split("."), preRelease: dash === -1 ? [] : precedence.slice(dash + 1).split(".") }
}

function comparePreReleases(one: ReadonlyArray<string>, other: ReadonlyArray<string>): number {
  // A version without a pre-release is higher than the same one with it.
  if (one.length === 0 || other.length === 0) return other.length - one.length
  for (let index = 0; index < Math.min(one.length, other.length); index += 1) {
    const difference = compareIdentifiers(one[index] ?? "", other[index] ?? "")
    if (difference !== 0) return difference
  }
  return one.length - other.length
}

function compareIdentifiers(one: string, other: string): number {
  const [isNumber, isOtherNumber] = [/^\d+$/.test(one), /^\d+$/.test(other)]
  if (isNumber && isOtherNumber) return compareNumbers(one, other)
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1
  return compareTexts(one, other)
}

/** Numbers of any length, without leading zeros. */
function compareNumbers(one: string, other: string): number {
  return one.length - other.length || compareTexts(one, other)
}

function compareTexts(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1
}
