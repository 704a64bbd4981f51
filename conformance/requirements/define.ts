/** Short constructors for cases; what is not said is 1.0 on both HTTP bindings. */
import type { Case, Level, Step } from '../model.ts'

type More = Partial<Omit<Case, 'id' | 'level' | 'section' | 'title' | 'steps'>>

function define(level: Level) {
  return (
    id: string,
    section: string,
    title: string,
    steps: readonly Step[],
    more: More = {},
  ): Case => ({
    id,
    level,
    section,
    title,
    versions: ['1.0'],
    bindings: ['jsonrpc', 'rest'],
    steps,
    ...more,
  })
}

export const must = define('MUST')
export const should = define('SHOULD')
export const may = define('MAY')

export const JSONRPC: More = { bindings: ['jsonrpc'] }
export const REST: More = { bindings: ['rest'] }
export const CARD: More = { bindings: ['card'] }
export const BOTH: More = { versions: ['1.0', '0.3'] }
export const STREAMING: More = { needs: ['streaming'] }
export const PUSH: More = { needs: ['push'] }
