/** A button that asks for what it needs in a dialog, does it, and shows why it was refused. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useId, useRef } from 'preact/hooks'
import type { Json } from '../../../src/core/values/json.ts'
import { messageOf } from '../server.ts'
import { lostSince } from '../tasks.ts'
import { Problem } from './field.tsx'

export interface ActProps {
  readonly label: string
  /** The title and the button of the dialog, where they say more than the label. */
  readonly effect?: string
  /** The key that presses the button. */
  readonly shortcut?: string
  /** What the dialog says before its fields. */
  readonly about: ComponentChildren
  readonly kind?: 'primary' | 'danger' | 'plain'
  /** Why the button does nothing now. Absent: it acts. */
  readonly refused?: string | undefined
  /** The fields of the form. */
  readonly children?: ComponentChildren
  readonly act: (form: FormData) => Promise<unknown>
}

export function Act({ label, effect, shortcut, about, kind, refused, children, act }: ActProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const title = effect ?? label
  return (
    <>
      <ActButton
        label={label}
        shortcut={shortcut}
        kind={kind}
        refused={refused}
        onPress={() => dialog.current?.showModal()}
      />
      <dialog ref={dialog} class="dialog" aria-label={title}>
        <header>
          <h2>{title}</h2>
        </header>
        <ActForm
          label={title}
          kind={kind === 'danger' ? 'danger primary' : 'primary'}
          act={act}
          done={() => dialog.current?.close()}
        >
          <div class="quiet">{about}</div>
          {children}
        </ActForm>
      </dialog>
    </>
  )
}

interface ActButtonProps {
  readonly label: string
  readonly shortcut?: string | undefined
  readonly kind?: string | undefined
  readonly refused?: string | undefined
  readonly onPress: () => void
}

/** A button that cannot act stays where a reader looks for it, and the reason stands beside it. */
export function ActButton({ label, shortcut, kind, refused, onPress }: ActButtonProps) {
  const id = useId()
  const isRefused = refused !== undefined
  return (
    <>
      <button
        type="button"
        class={kind}
        data-key={isRefused ? undefined : shortcut}
        disabled={lostSince.value !== undefined}
        aria-disabled={isRefused ? 'true' : undefined}
        aria-describedby={isRefused ? id : undefined}
        onClick={isRefused ? undefined : onPress}
      >
        {label}
        {shortcut !== undefined && !isRefused && (
          <span class="kbd" aria-hidden="true">
            {shortcut}
          </span>
        )}
      </button>
      {isRefused && (
        <span class="small quiet" id={id}>
          {refused}
        </span>
      )}
    </>
  )
}

interface ActFormProps {
  readonly label: string
  readonly kind: string
  readonly act: (form: FormData) => Promise<unknown>
  /** After it was done. */
  readonly done: () => void
  readonly children: ComponentChildren
}

/** What was typed stays after a refusal. */
function ActForm({ label, kind, act, done, children }: ActFormProps) {
  const busy = useSignal(false)
  const refusal = useSignal<string | undefined>(undefined)
  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault()
    if (!(event.currentTarget instanceof HTMLFormElement)) return
    busy.value = true
    refusal.value = undefined
    try {
      await act(new FormData(event.currentTarget))
      done()
    } catch (error) {
      refusal.value = messageOf(error)
    } finally {
      busy.value = false
    }
  }
  return (
    <form onSubmit={submit}>
      <div class="form">
        {children}
        {refusal.value !== undefined && <Problem text={refusal.value} />}
      </div>
      <footer>
        <button type="button" onClick={done}>
          Back
        </button>
        <button type="submit" class={kind} disabled={busy.value}>
          {label}
        </button>
      </footer>
    </form>
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
