/** All versions that can be installed, to choose one from; none is chosen beforehand. */

import type { PublicAgentShareRelease as Release } from "@/api/contract.gen"
import { date, plural } from "@/components/format"

interface VersionChoiceProps {
  readonly releases: ReadonlyArray<Release>
  readonly chosen: string | undefined
  readonly onChoose: (releaseId: string) => void
}

export function VersionChoice({ releases, chosen, onChoose }: VersionChoiceProps) {
  return (
    <div role="radiogroup" aria-label="Version" className="max-h-96 space-y-2 overflow-y-auto">
      {releases.map(({ releaseId, version, publishedAt, permissions, skills }) => (
        <label
          key={releaseId}
          className="flex cursor-pointer items-start gap-3 rounded-md border border-line p-2.5 hover:bg-hover has-checked:border-accent has-checked:bg-accent-soft"
        >
          <input
            type="radio"
            name="release"
            checked={releaseId === chosen}
            onChange={() => onChoose(releaseId)}
            className="mt-1 size-4 accent-accent"
          />
          <span className="min-w-0 flex-1 text-sm">
            <span className="id-text font-medium">{version}</span>
            <span className="block text-muted">
              {date(publishedAt)} · {plural(skills.length, "Skill")} ·{" "}
              {permissions.length === 0 ? "no permission" : plural(permissions.length, "permission")}
            </span>
          </span>
        </label>
      ))}
    </div>
  )
}
