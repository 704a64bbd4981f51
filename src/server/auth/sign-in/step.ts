/** The part of the sign-in that is loaded with every server. It loads no library. */

/** Sends the browser on. */
export interface Step {
  readonly location: string
  readonly cookies: readonly string[]
}

/** Why somebody is not signed in. The message is for that person. */
export class SignInRefused extends Error {
  override readonly name = 'SignInRefused'
  readonly status: 400 | 403 | 503

  constructor(status: 400 | 403 | 503, message: string, cause?: unknown) {
    super(message, { cause })
    this.status = status
  }
}

/** The credential ids of sessions begin with it. API keys have ids of hexadecimal digits. */
export const SESSION_PREFIX = 'session-'

export const isSessionId = (credentialId: string): boolean =>
  credentialId.startsWith(SESSION_PREFIX)
