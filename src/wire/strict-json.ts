/**
 * Parses untrusted JSON. `JSON.parse` alone accepts deep nesting that overflows a recursion, duplicate names that readers
 * understand differently, and `__proto__`. This parser compares the number of names in the text with the number of members
 * of the value. They differ when a name is duplicated. Strings are skipped by `indexOf`, so inline files cost little. Only
 * when the numbers differ, the text is read name by name to find the problem.
 */
export type StrictJson =
  | { readonly value: unknown; readonly problem?: undefined }
  | { readonly problem: string; readonly fault: 'syntax' | 'refused' }

const DEPTH = 64

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The `fault` of a problem is `syntax` for text that is not JSON, and `refused` for JSON that is not accepted. */
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
  if (membersOf(value, maxDepth) === namesIn(text)) return { value }
  return inspect(text, maxDepth) ?? { value }
}

/** The number of members of all objects in the value. NaN, which equals no number, for deep nesting or `__proto__`. */
function membersOf(value: unknown, levels: number): number {
  if (typeof value !== 'object' || value === null) return 0
  if (levels === 0) return Number.NaN
  let count = 0
  if (Array.isArray(value)) {
    for (const item of value) count += membersOf(item, levels - 1)
    return count
  }
  for (const name in value) {
    if (name === '__proto__') return Number.NaN
    count += 1 + membersOf((value as Readonly<Record<string, unknown>>)[name], levels - 1)
  }
  return count
}

/** The number of names in valid JSON: every name is followed by a colon. */
function namesIn(text: string): number {
  let count = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === COLON) count++
  }
  return count
}

const QUOTE = 34
const BACKSLASH = 92
const COLON = 58

/** Reads valid JSON and checks nesting and names of members. */
function inspect(text: string, maxDepth: number): StrictJson | undefined {
  /** One entry per open bracket: the names read so far, or null in an array. */
  const open: (Set<string> | null)[] = []
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
        if (names.has(name)) {
          return { fault: 'refused', problem: `The name "${name.slice(0, 64)}" is given twice` }
        }
        names.add(name)
      }
      at = end
    } else if (code === 123 || code === 91) {
      open.push(code === 123 ? new Set() : null)
      if (open.length > maxDepth) {
        return { fault: 'refused', problem: `The body is nested deeper than ${maxDepth} levels` }
      }
    } else if (code === 125 || code === 93) {
      open.pop()
    }
  }
  return undefined
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

/** A string followed by a colon is the name of a member. */
function isName(text: string, end: number): boolean {
  let at = end + 1
  let code = text.charCodeAt(at)
  while (code === 32 || code === 10 || code === 13 || code === 9) code = text.charCodeAt(++at)
  return code === COLON
}

function nameOf(raw: string): string {
  return raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw
}
