/**
 * JSON from strangers. `JSON.parse` alone accepts what later goes wrong: a thousand levels that overflow a recursion,
 * a name given twice that two readers understand differently, `__proto__`, bytes that are not UTF-8. One pass over the
 * text finds them; strings are skipped natively, so that inline files cost little.
 */
export type StrictJson =
  | { readonly value: unknown; readonly problem?: undefined }
  | { readonly problem: string; readonly fault: 'syntax' | 'refused' }

const DEPTH = 64

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** @param fault `syntax`: this is not JSON; `refused`: it is, but not one we take */
export function parseStrictJson(body: Uint8Array | string, maxDepth: number = DEPTH): StrictJson {
  let text: string
  try {
    text = typeof body === 'string' ? body : utf8.decode(body)
  } catch {
    return { fault: 'syntax', problem: 'The body is not valid UTF-8' }
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { fault: 'syntax', problem: 'The body is not valid JSON' }
  }
  return inspect(text, maxDepth) ?? { value }
}

const QUOTE = 34
const BACKSLASH = 92
const COLON = 58

/** Walks text that is known to be JSON, looking only at nesting and at the names of members. */
function inspect(text: string, maxDepth: number): StrictJson | undefined {
  /** One entry per open bracket: the names so far, or null in an array. */
  const open: (Names | null)[] = []
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      const end = endOfString(text, at)
      const names = open.at(-1)
      if (names && isName(text, end)) {
        const name = nameOf(text.slice(at + 1, end))
        if (name === '__proto__') {
          return { fault: 'refused', problem: 'The name "__proto__" is not allowed' }
        }
        if (isTaken(names, name)) {
          return { fault: 'refused', problem: `The name "${name.slice(0, 64)}" is given twice` }
        }
      }
      at = end
    } else if (code === 123 || code === 91) {
      open.push(code === 123 ? { few: [], many: undefined } : null)
      if (open.length > maxDepth) {
        return { fault: 'refused', problem: `The body is nested deeper than ${maxDepth} levels` }
      }
    } else if (code === 125 || code === 93) {
      open.pop()
    }
  }
  return undefined
}

interface Names {
  readonly few: string[]
  many: Set<string> | undefined
}

const FEW = 16

/** Looks the name up and remembers it. Most objects have few members; one with a million must not cost their square. */
function isTaken(names: Names, name: string): boolean {
  const { few, many } = names
  if (many !== undefined) return many.size === many.add(name).size
  if (few.includes(name)) return true
  few.push(name)
  if (few.length === FEW) names.many = new Set(few)
  return false
}

/** The index of the closing quote. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end
}

function isEscaped(text: string, quote: number): boolean {
  let backslashes = 0
  while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes++
  return backslashes % 2 === 1
}

/** A string that a colon follows is the name of a member. */
function isName(text: string, end: number): boolean {
  let at = end + 1
  let code = text.charCodeAt(at)
  while (code === 32 || code === 10 || code === 13 || code === 9) code = text.charCodeAt(++at)
  return code === COLON
}

function nameOf(raw: string): string {
  return raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw
}
