/** How callers can prove who they are. Apart from `auth-config.ts`, because the command line reads it before it serves. */
export type AuthMode = 'keys' | 'jwt'

export const authModes: readonly [AuthMode, ...AuthMode[]] = ['keys', 'jwt']
