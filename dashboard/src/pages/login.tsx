/** Asks for a sign-in or an API key when the server wants one. */
import { useId } from 'preact/hooks'
import { Problem } from '../parts/field.tsx'
import { Mark } from '../parts/marks.tsx'
import { key, session, signInUrl, signOut } from '../server.ts'

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
          <Organisation />
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
                It needs <code>ops:read</code> to look, and <code>tasks:answer:all</code> to answer
                or <code>ops:control</code> to pause, resume, cancel and hold.
              </p>
            </div>
            <button type="submit" class={session.value.signIn ? undefined : 'primary'}>
              Sign in with the key
            </button>
          </form>
          <details>
            <summary class="fold">No key yet?</summary>
            <p class="hint">On the machine of the server:</p>
            <pre>
              lull keys mint --tenant acme --principal me --scopes
              ops:read,ops:control,tasks:answer:all
            </pre>
          </details>
        </section>
      </main>
    </div>
  )
}

/** The way to the sign-in of the organisation, where the server has one. */
function Organisation() {
  const { signIn, tenant, principal } = session.value
  if (!signIn) return null
  if (tenant !== undefined) {
    return (
      <div class="form">
        <Problem
          id="no-rights"
          text={`You are signed in as ${principal}, but your rights do not include ops:read.`}
        />
        <button type="button" onClick={signOut}>
          Sign out
        </button>
      </div>
    )
  }
  return (
    <>
      <a class="btn primary" href={signInUrl()}>
        Go on with your organisation
      </a>
      <p class="hint">
        You come back here. The session ends when you sign out, or after some hours.
      </p>
      <p class="or">or with a key</p>
    </>
  )
}
