/** Asks for an API key when the server wants one. */
import { useId } from 'preact/hooks'
import { Problem } from '../parts/field.tsx'
import { Mark } from '../parts/marks.tsx'
import { key } from '../server.ts'

export function Login() {
  const id = useId()
  const isRefused = key.value !== undefined
  return (
    <div class="gate">
      <span class="brand">
        <Mark />
        Lull
      </span>
      <main id="main">
        <section class="panel" aria-label="Sign in">
          <h1>Sign in</h1>
          <form
            class="form"
            onSubmit={(event) => {
              event.preventDefault()
              const typed = new FormData(event.currentTarget).get('key')
              if (typeof typed === 'string') key.value = typed.trim()
            }}
          >
            <div class={isRefused ? 'field bad' : 'field'}>
              <label htmlFor={id}>API key</label>
              <input
                id={id}
                name="key"
                type="password"
                autocomplete="off"
                spellcheck={false}
                required
                aria-invalid={isRefused}
                aria-describedby={`${id}-problem ${id}-hint`}
              />
              {isRefused && (
                <Problem
                  id={`${id}-problem`}
                  text="This key is not accepted. It is unknown, expired or revoked, or lacks the scope ops:read."
                />
              )}
              <p class="hint" id={`${id}-hint`}>
                It needs <code>ops:read</code> to look, and <code>tasks:write</code>,{' '}
                <code>tasks:control</code> or <code>ops:control</code> to act.
              </p>
            </div>
            <button type="submit" class="primary">
              Sign in
            </button>
          </form>
          <details>
            <summary class="fold">No key yet?</summary>
            <p class="hint">On the machine of the server:</p>
            <pre>
              lull keys mint --tenant acme --principal me --scopes
              ops:read,tasks:read,tasks:write,tasks:control
            </pre>
          </details>
        </section>
      </main>
    </div>
  )
}
