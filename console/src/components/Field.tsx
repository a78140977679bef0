/** Form controls with their label, hint and error tied together. */

import { useId, type ComponentProps, type ReactNode } from "react"

import { cn } from "@/components/classes"

interface FieldProps {
  readonly label: ReactNode
  readonly hint?: ReactNode
  readonly error?: ReactNode
  readonly required?: boolean
  readonly className?: string
  /** Gets the ids that tie the control to its label and texts. */
  readonly children: (control: ControlIds) => ReactNode
}

export interface ControlIds {
  readonly id: string
  readonly "aria-describedby"?: string
  readonly "aria-invalid"?: true
}

export function Field({ label, hint, error, required = false, className, children }: FieldProps) {
  const id = useId()
  const described = [hint ? `${id}-hint` : "", error ? `${id}-error` : ""].filter(Boolean).join(" ")
  return (
    <div className={cn("min-w-0 space-y-1", className)}>
      <label htmlFor={id} className="block text-sm font-medium">
        {label}
        {required ? <span className="text-muted"> (required)</span> : null}
      </label>
      {children({
        id,
        "aria-describedby": described || undefined,
        "aria-invalid": error ? true : undefined,
      })}
      {hint ? (
        <p id={`${id}-hint`} className="text-xs text-muted">
          {hint}
        </p>
      ) : null}
      {error ? (
        <p id={`${id}-error`} role="alert" className="text-xs font-medium text-bad">
          {error}
        </p>
      ) : null}
    </div>
  )
}

const control =
  "w-full min-w-0 rounded-md border border-control bg-surface px-2.5 text-base text-ink placeholder:text-muted hover:border-muted focus-visible:outline-offset-0 disabled:opacity-60 aria-invalid:border-bad"

export function TextInput({ className, ...rest }: ComponentProps<"input">) {
  return <input autoComplete="off" spellCheck={false} className={cn(control, "h-8", className)} {...rest} />
}

export function TextArea({ className, ...rest }: ComponentProps<"textarea">) {
  return <textarea spellCheck={false} className={cn(control, "min-h-20 py-1.5", className)} {...rest} />
}

export function Select({ className, ...rest }: ComponentProps<"select">) {
  return <select className={cn(control, "h-8 pr-1.5", className)} {...rest} />
}

interface CheckProps extends Omit<ComponentProps<"input">, "type"> {
  readonly label: ReactNode
  readonly description?: ReactNode
}

export function Checkbox({ label, description, className, ...rest }: CheckProps) {
  const id = useId()
  return (
    <div className={cn("flex items-start gap-2", className)}>
      <input
        id={id}
        type="checkbox"
        aria-describedby={description ? `${id}-text` : undefined}
        className="mt-0.5 size-4 shrink-0 accent-accent"
        {...rest}
      />
      <div className="min-w-0 text-sm">
        <label htmlFor={id} className="font-medium">
          {label}
        </label>
        {description ? (
          <p id={`${id}-text`} className="text-muted">
            {description}
          </p>
        ) : null}
      </div>
    </div>
  )
}

/** On or off, effective at once. */
export function Switch({ label, className, ...rest }: Omit<CheckProps, "description">) {
  const id = useId()
  return (
    <div className={cn("inline-flex min-h-6 items-center gap-2", className)}>
      <input
        id={id}
        type="checkbox"
        // oxlint-disable-next-line jsx-a11y/role-has-required-aria-props -- the box itself says whether it is checked
        role="switch"
        className="relative h-[18px] w-8 shrink-0 cursor-pointer appearance-none rounded-full border border-control bg-sunken transition-colors before:absolute before:top-[2px] before:left-[2px] before:size-3 before:rounded-full before:bg-control before:transition-transform checked:border-accent checked:bg-accent checked:before:translate-x-3.5 checked:before:bg-on-accent"
        {...rest}
      />
      <label htmlFor={id} className="cursor-pointer text-sm">
        {label}
      </label>
    </div>
  )
}
