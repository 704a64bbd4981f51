import { readFileSync } from 'node:fs'

const about: unknown = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
)

/** The version of this package. */
export const version: string = (about as { readonly version: string }).version
