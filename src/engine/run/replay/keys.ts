/**
 * The keys of operations in the journal. A key is a path with one segment for each step that the operation is in:
 *
 *   key      = *( segment [ "!" failures ] "/" ) segment
 *   segment  = kind ":" name "#" ( occurrence | "key" )
 *
 *   step:plan#1                    the first step named "plan"
 *   step:plan#1/tool:search#2      the second tool named "search" inside it
 *   step:plan#1!1/tool:search#1    the first one, after "plan" had failed once and was tried again
 *   step:order-7#key               the step whose author chose the key "order-7"
 *
 * K1  The characters this spelling uses are escaped in names, so that different operations have different keys.
 * K2  Names without them are spelled as they are.
 */
import { LullError } from '../../../core/errors.ts'

const codes: Readonly<Record<string, string>> = { '%': '%25', '#': '%23', '/': '%2F', '!': '%21' }

function escapeName(name: string): string {
  return name.replace(/[%#/!]/g, (character) => codes[character] ?? character)
}

const unescapeName = (text: string): string =>
  text.replace(/%(25|23|2F|21)/g, (code) => decodeURIComponent(code))

/** The steps that an operation is in, outermost first, each with the prefix of its attempt. */
export function outerSteps(
  key: string,
): readonly { readonly key: string; readonly prefix: string }[] {
  const steps: { key: string; prefix: string }[] = []
  for (let end = key.indexOf('/'); end >= 0; end = key.indexOf('/', end + 1)) {
    steps.push({ key: key.slice(0, end).replace(/!\d+$/, ''), prefix: key.slice(0, end + 1) })
  }
  return steps
}

/** For people: `step "plan"`, and which one of several. */
export function describeKey(key: string): string {
  const { kind = 'operation', name = key, occurrence } = partsOf(key)
  const which = occurrence === undefined || occurrence === '1' || occurrence === 'key'
  const named = name === '' ? kind : `${kind} "${name}"`
  return which ? named : `${named} (number ${occurrence})`
}

/** For people: the operations of these keys. @param count how many there are in all, if `keys` has only the first ones */
export function describeKeys(keys: readonly string[], count: number = keys.length): string {
  const more = count > keys.length ? ` and ${count - keys.length} more` : ''
  return `${keys.map(describeKey).join(', ')}${more}`
}

/** What people type for it: `plan#1` for a step named "plan", `park#1` for a park. */
export function addressOf(key: string): string {
  const { kind = '', name = key, occurrence = '1' } = partsOf(key)
  return `${name === '' ? kind : name}#${occurrence}`
}

/** The parts of the last segment. */
function partsOf(key: string): {
  readonly kind?: string | undefined
  readonly name?: string | undefined
  readonly occurrence?: string | undefined
} {
  const [, kind, name, occurrence] =
    /^([a-z-]+):(.*)#([^#]*)$/s.exec(key.slice(key.lastIndexOf('/') + 1)) ?? []
  return { kind, name: name === undefined ? undefined : unescapeName(name), occurrence }
}

/** Counts the operations of a run, so that no two have the same key. */
export class KeyCounter {
  /** By prefix, and then by kind and name. */
  #counts: Map<string, Map<string, number>> | undefined

  /** The key of the next operation of that kind and name. */
  next(prefix: string, kind: string, name: string): string {
    const stem = stemOf(kind, name)
    const counts = this.#under(prefix)
    const occurrence = (counts.get(stem) ?? 0) + 1
    counts.set(stem, occurrence)
    return `${prefix}${stem}#${occurrence}`
  }

  /** The key that `next` would return. */
  peek(prefix: string, kind: string, name: string): string {
    const stem = stemOf(kind, name)
    return `${prefix}${stem}#${(this.#counts?.get(prefix)?.get(stem) ?? 0) + 1}`
  }

  /** The key the author chose. @throws LullError `INVALID_INPUT` when it was used before */
  chosen(prefix: string, kind: string, chosen: string): string {
    const key = `${stemOf(kind, chosen)}#key`
    const counts = this.#under(prefix)
    if (counts.has(key)) {
      throw new LullError('INVALID_INPUT', { path: 'key', problem: `"${chosen}" was used before` })
    }
    counts.set(key, 1)
    return `${prefix}${key}`
  }

  /** Starts to count again under the prefix, because a step's function runs again. A step inside of it does so itself. */
  restart(prefix: string): void {
    this.#counts?.delete(prefix)
  }

  #under(prefix: string): Map<string, number> {
    this.#counts ??= new Map()
    const known = this.#counts.get(prefix)
    if (known !== undefined) return known
    const counts = new Map<string, number>()
    this.#counts.set(prefix, counts)
    return counts
  }
}

function stemOf(kind: string, name: string): string {
  return `${kind}:${escapeName(name)}`
}
