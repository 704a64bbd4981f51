import { readFileSync } from 'node:fs'

/** The version of this package. Empty if a bundler has moved the code away from `package.json`. */
export const version: string = versionIn(new URL('../../../package.json', import.meta.url))

function versionIn(file: URL): string {
  try {
    const about: unknown = JSON.parse(readFileSync(file, 'utf8'))
    const { name, version } = about as { readonly name?: string; readonly version?: string }
    return name === 'lull' && version !== undefined ? version : ''
  } catch {
    return ''
  }
}
