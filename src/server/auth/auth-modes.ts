/**
 * How callers can authenticate. In a file of its own, because the command line reads it before it
 * loads the server.
 */
export type AuthMode = 'keys' | 'jwt'

export const authModes: readonly [AuthMode, ...AuthMode[]] = ['keys', 'jwt']
