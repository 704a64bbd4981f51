/** A field for JSON. What is not JSON is refused before it is sent, with its line and column, and stays in the field. */
import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { problemOf } from '../json-text.ts'

export interface JsonFieldProps {
  readonly label: string
  readonly name: string
  readonly hint?: string
  readonly initial?: string
  readonly required?: boolean
}

export function JsonField({ label, name, hint, initial, required = false }: JsonFieldProps) {
  const id = useId()
  const problem = useSignal<string | undefined>(undefined)
  const about = [problem.value && `${id}-problem`, hint && `${id}-hint`].filter(Boolean).join(' ')
  return (
    <div class={problem.value === undefined ? 'field' : 'field bad'}>
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
        aria-invalid={problem.value !== undefined}
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
      {problem.value !== undefined && (
        <p class="problem refusal" id={`${id}-problem`} role="alert">
          {problem.value}
        </p>
      )}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}
