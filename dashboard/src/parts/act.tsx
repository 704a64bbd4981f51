/** A button that asks for what it needs in a dialog, does it, and shows why it was refused. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import type { Json } from '../../../src/core/values/json.ts'
import { messageOf } from '../server.ts'
import { lostSince } from '../tasks.ts'

export interface ActProps {
  readonly label: string
  /** The key that presses the button. */
  readonly shortcut?: string
  /** What the dialog says before its fields. */
  readonly about: string
  readonly kind?: 'primary' | 'danger'
  /** The fields of the form. */
  readonly children?: ComponentChildren
  readonly act: (form: FormData) => Promise<unknown>
}

export function Act({ label, shortcut, about, kind, children, act }: ActProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const busy = useSignal(false)
  const refusal = useSignal<string | undefined>(undefined)

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault()
    if (!(event.currentTarget instanceof HTMLFormElement)) return
    busy.value = true
    refusal.value = undefined
    try {
      await act(new FormData(event.currentTarget))
      dialog.current?.close()
    } catch (error) {
      refusal.value = messageOf(error)
    } finally {
      busy.value = false
    }
  }

  return (
    <>
      <button
        type="button"
        class={kind}
        data-key={shortcut}
        disabled={lostSince.value !== undefined}
        onClick={() => {
          refusal.value = undefined
          dialog.current?.showModal()
        }}
      >
        {label}
        {shortcut !== undefined && (
          <span class="key" aria-hidden="true">
            {shortcut}
          </span>
        )}
      </button>
      <dialog ref={dialog} aria-label={label}>
        <form onSubmit={submit}>
          <h2>{label}</h2>
          <p>{about}</p>
          {children}
          {refusal.value !== undefined && (
            <p class="refusal" role="alert">
              {refusal.value}
            </p>
          )}
          <div class="buttons">
            <button type="button" onClick={() => dialog.current?.close()}>
              Close
            </button>
            <button type="submit" class={kind ?? 'primary'} disabled={busy.value}>
              {busy.value ? 'Working…' : label}
            </button>
          </div>
        </form>
      </dialog>
    </>
  )
}

/** The text of a field; undefined when it is empty. */
export function textIn(form: FormData, name: string): string | undefined {
  const value = form.get(name)
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

/** The value of a `JsonField`, which lets nothing else pass. Undefined: it was left empty. */
export function jsonIn(form: FormData, name: string): Json | undefined {
  const text = textIn(form, name)
  return text === undefined ? undefined : JSON.parse(text)
}
