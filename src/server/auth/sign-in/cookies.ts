/** The cookies of the sign-in. */
import type { Purpose } from './sealed.ts'

export interface Cookies {
  /** @returns the value of a `Set-Cookie` header */
  set(purpose: Purpose, value: string, lastsMs: number): string
  clear(purpose: Purpose): string
  /** @param header the `Cookie` header */
  read(purpose: Purpose, header: string | undefined): string | undefined
}

/**
 * The provider sends the browser back from another site, and `Lax` lets that one navigation carry
 * the cookie of the sign-in that has begun. The session itself is `Strict`.
 */
const sameSite: Readonly<Record<Purpose, string>> = { login: 'Lax', session: 'Strict' }

/** @param secure whether the server is reached by HTTPS */
export function createCookies(secure: boolean): Cookies {
  // With this prefix a browser takes the cookie only from this host, over HTTPS, for every path.
  const nameOf = (purpose: Purpose): string => `${secure ? '__Host-' : ''}lull-${purpose}`

  function header(purpose: Purpose, value: string, seconds: number): string {
    const flags = `Path=/; HttpOnly; SameSite=${sameSite[purpose]}; Max-Age=${seconds}`
    return `${nameOf(purpose)}=${value}; ${flags}${secure ? '; Secure' : ''}`
  }

  return {
    set: (purpose, value, lastsMs) => header(purpose, value, Math.floor(lastsMs / 1_000)),
    clear: (purpose) => header(purpose, '', 0),
    read(purpose, given = '') {
      const start = `${nameOf(purpose)}=`
      const found = given.split(';').map((one) => one.trim())
      return found.find((one) => one.startsWith(start))?.slice(start.length) || undefined
    },
  }
}
