/** Fields of forms: the label above, the hint below, the fault below the field. */
import { useSignal } from '@preact/signals'
import type { ComponentChild, ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { problemOf } from '../json-text.ts'
import { Shape } from './marks.tsx'

/** What is wrong, said where it was typed. */
export function Problem({ text, id }: { readonly text: string; readonly id?: string }) {
  return (
    <p class="problem refusal" role="alert" id={id}>
      <Shape shape="failed" tone="fail" />
      <span>{text}</span>
    </p>
  )
}

interface FieldProps {
  readonly label: ComponentChildren
  readonly hint?: ComponentChildren
  readonly children: (id: string) => ComponentChild
}

export function Field({ label, hint, children }: FieldProps) {
  const id = useId()
  return (
    <div class="field">
      <label htmlFor={id}>{label}</label>
      {children(id)}
      {hint !== undefined && <p class="hint">{hint}</p>}
    </div>
  )
}

export function TextField(props: {
  readonly label: ComponentChildren
  readonly name: string
  readonly hint?: ComponentChildren
  readonly required?: boolean
  readonly maxLength?: number
  /** More than one: a field for a longer text. */
  readonly rows?: number
}) {
  const { label, hint, rows = 1, ...given } = props
  return (
    <Field label={label} hint={hint}>
      {(id) =>
        rows > 1 ? (
          <textarea id={id} rows={rows} {...given} />
        ) : (
          <input id={id} type="text" {...given} />
        )
      }
    </Field>
  )
}

export interface JsonFieldProps {
  readonly label: string
  readonly name: string
  readonly hint?: string
  readonly initial?: string
  readonly required?: boolean
}

/** What is not JSON is refused before it is sent, with its line and column, and stays in the field. */
export function JsonField({ label, name, hint, initial, required = false }: JsonFieldProps) {
  const id = useId()
  const problem = useSignal<string | undefined>(undefined)
  const text = problem.value
  const isBad = text !== undefined
  const about = [isBad && `${id}-problem`, hint && `${id}-hint`].filter(Boolean).join(' ')
  return (
    <div class={isBad ? 'field bad' : 'field'}>
      <label htmlFor={id}>
        {label}, as JSON {!required && <span class="quiet">(may be left empty)</span>}
      </label>
      <textarea
        id={id}
        name={name}
        class="mono"
        rows={3}
        spellcheck={false}
        required={required}
        defaultValue={initial}
        aria-invalid={isBad}
        aria-describedby={about || undefined}
        onInvalid={(event) => {
          const field = event.currentTarget
          if (!field.validity.customError) return
          // The page says it below the field, where it stays. A browser would show a bubble.
          event.preventDefault()
          problem.value = field.validationMessage
          field.focus()
        }}
        onInput={(event) => {
          event.currentTarget.setCustomValidity(problemOf(event.currentTarget.value) ?? '')
          problem.value = undefined
        }}
      />
      {isBad && <Problem text={text} id={`${id}-problem`} />}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}
