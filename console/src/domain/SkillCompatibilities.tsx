/** What another version means for callers of its Skills and for readers of their outputs, as the Gateway says. */

import { useQuery } from "@tanstack/react-query"
import { Check, CircleHelp, TriangleAlert } from "lucide-react"

import type { AgentCompatibilityAnswer } from "@/api/contract.gen"
import { read } from "@/api/queries"
import { Loaded } from "@/components/Loaded"
import { Loading } from "@/components/Skeleton"
import { cn } from "@/components/classes"

const MAX_CHARACTERS = 200
const ICONS = {
  yes: { icon: Check, look: "text-ok", label: "compatible" },
  no: { icon: TriangleAlert, look: "text-warn", label: "not compatible" },
  not_decided: { icon: CircleHelp, look: "text-muted", label: "not decided" },
} as const
const INPUTS = {
  yes: "Old inputs stay valid.",
  no: "These inputs stop being valid:",
  not_decided: "Old inputs: not decided.",
} as const
const OUTPUTS = {
  yes: "New outputs are valid for old readers.",
  no: "Old readers refuse these outputs:",
  not_decided: "New outputs for old readers: not decided.",
} as const

interface SkillCompatibilitiesProps {
  readonly agentId: string
  readonly from: string
  readonly version: string
}

/** Nothing when no Skill is in both versions. The answer is kept: registered versions never change. */
export function SkillCompatibilities({ agentId, from, version }: SkillCompatibilitiesProps) {
  const input = { path: { agentId, version }, query: { from } }
  const compared = useQuery({ ...read("readAgentCompatibility", input), staleTime: Infinity })
  if (compared.data?.skills.length === 0) return null
  return (
    <section aria-label="Compatibility">
      <h2 className="mb-1.5 text-sm font-semibold">Compatibility</h2>
      <Loaded query={compared} what="Compatibility" loading={<Loading what="Compatibility" rows={1} />}>
        {({ skills }) => (
          <ul className="divide-y divide-line rounded-md border border-line bg-surface">
            {skills.map(({ skillId, inputs, outputs }) => (
              <li key={skillId} className="px-3 py-2 text-sm">
                <span className="id-text font-medium">{skillId}</span>
                <Answer answer={inputs} texts={INPUTS} />
                <Answer answer={outputs} texts={OUTPUTS} />
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </section>
  )
}

interface AnswerProps {
  readonly answer: AgentCompatibilityAnswer
  readonly texts: Readonly<Record<AgentCompatibilityAnswer["compatible"], string>>
}

function Answer({ answer, texts }: AnswerProps) {
  const { icon: Icon, look, label } = ICONS[answer.compatible]
  return (
    <p className="mt-1 flex items-start gap-2.5">
      <Icon aria-label={label} className={cn("mt-0.5 size-4 shrink-0", look)} />
      <span className="min-w-0 flex-1 break-words">
        {texts[answer.compatible]}
        {answer.compatible === "no" ? (
          <>
            {" "}
            <code className="id-text">{shortened(JSON.stringify(answer.example))}</code>
          </>
        ) : null}
      </span>
    </p>
  )
}

function shortened(text: string): string {
  const characters = Array.from(text)
  return characters.length > MAX_CHARACTERS ? `${characters.slice(0, MAX_CHARACTERS).join("")}…` : text
}
