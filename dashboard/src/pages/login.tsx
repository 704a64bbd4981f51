/** Asks for an API key when the server wants one. */
import { key } from '../server.ts'

export function Login() {
  return (
    <form
      class="welcome"
      onSubmit={(event) => {
        event.preventDefault()
        const typed = new FormData(event.currentTarget).get('key')
        if (typeof typed === 'string') key.value = typed.trim()
      }}
    >
      <h1>This server wants a key</h1>
      {key.value !== undefined && (
        <p class="refusal" role="alert">
          This key is not accepted. It is unknown, expired or revoked, or lacks the scope ops:read.
        </p>
      )}
      <label>
        API key
        <input name="key" type="password" autocomplete="off" required />
      </label>
      <button type="submit" class="primary">
        Sign in
      </button>
      <p class="empty">
        Make one with: lull keys mint --tenant acme --principal me --scopes
        ops:read,tasks:read,tasks:control
      </p>
    </form>
  )
}
