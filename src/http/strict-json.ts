/**
 * Parses untrusted JSON. `JSON.parse` alone accepts millions of values that take seconds to check and to copy, deep nesting
 * that overflows a recursion, duplicate names that readers understand differently, and `__proto__`. The text is counted
 * before it is parsed. Afterwards the number of names in the text is compared with the number of members of the value. They
 * differ when a name is duplicated. Strings are skipped by `indexOf`, so inline files cost little. Only when the numbers
 * differ, the text is read name by name to find the problem.
 */
export type StrictJson =
  | { readonly value: unknown; readonly problem?: undefined }
  | { readonly problem: string; readonly fault: 'syntax' | 'refused' }

const DEPTH = 64

/** How much of everything one text may have. */
export interface JsonLimits {
  readonly depth: number
  readonly values: number
  readonly names: number
}

/**
 * Values and names in one text. With this many a request takes some 40 ms of the event loop, and a text of 10 MiB could hold
 * fifty times as many.
 */
const VALUES = 100_000
/** Different names among them. A new name costs several times as much as a value, or as a name that other objects have, too. */
const NAMES = 10_000
/** Escaped halves of surrogate pairs that stand alone. Writing one takes ten times as long as writing another character. */
const HALVES = 100_000
const LONE_HALF =
  /\\u[dD](?:[89abAB][\da-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][\da-fA-F]{2}\\u[dD])[c-fC-F])/g

const ofARequest: JsonLimits = { depth: DEPTH, values: VALUES, names: NAMES }

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The `fault` of a problem is `syntax` for text that is not JSON, and `refused` for JSON that is not accepted. */
export function parseStrictJson(
  body: Uint8Array | string,
  some: Partial<JsonLimits> = {},
): StrictJson {
  const limits = { ...ofARequest, ...some }
  let text: string
  try {
    text = typeof body === 'string' ? body : utf8.decode(body)
  } catch {
    return { fault: 'syntax', problem: 'The body is not valid UTF-8' }
  }
  const names = namesIn(text, limits)
  if (names === undefined) {
    const problem = `The body has more than ${limits.values} values, or more than ${limits.names} different names`
    return { fault: 'refused', problem }
  }
  if (hasTooManyHalves(text)) {
    const problem = `The body has more than ${HALVES} halves of characters (lone surrogates)`
    return { fault: 'refused', problem }
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { fault: 'syntax', problem: 'The body is not valid JSON' }
  }
  if (membersOf(value, limits.depth) === names) return { value }
  return inspect(text, limits.depth) ?? { value }
}

/** Whether the text has more of anything than `parseStrictJson` accepts. For texts that another parser reads. */
export function isTooCostly(text: string): boolean {
  return namesIn(text, ofARequest) === undefined || hasTooManyHalves(text)
}

function hasTooManyHalves(text: string): boolean {
  LONE_HALF.lastIndex = 0
  let halves = 0
  while (halves <= HALVES && LONE_HALF.test(text)) halves++
  return halves > HALVES
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

/** The number of names in a text: every name is followed by a colon. Undefined where there are too many. */
function namesIn(text: string, limits: JsonLimits): number | undefined {
  let names = 0
  let values = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === COLON) names++
    else if (code === COMMA || code === BRACKET || code === BRACE) values++
    if (names + values > limits.values) return undefined
  }
  return names > limits.names && hasTooManyNames(text, limits.names) ? undefined : names
}

/** Counts names as they are written: one that is escaped in two ways counts twice. */
function hasTooManyNames(text: string, most: number): boolean {
  const names = new Set<string>()
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) !== QUOTE) continue
    const end = endOfString(text, at)
    if (isName(text, end)) names.add(text.slice(at + 1, end))
    if (names.size > most) return true
    at = end
  }
  return false
}

const QUOTE = 34
const BACKSLASH = 92
const COLON = 58
const COMMA = 44
const BRACKET = 91
const BRACE = 123

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
    } else if (code === BRACE || code === BRACKET) {
      open.push(code === BRACE ? new Set() : null)
      if (open.length > maxDepth) {
        return { fault: 'refused', problem: `The body is nested deeper than ${maxDepth} levels` }
      }
    } else if (code === 125 || code === 93) {
      open.pop()
    }
  }
  return undefined
}

/** The index of the closing quote, or the length of a text that ends within the string. */
function endOfString(text: string, start: number): number {
  const quote = text.indexOf('"', start + 1)
  if (quote === -1) return text.length
  if (text.charCodeAt(quote - 1) !== BACKSLASH) return quote
  // The quote may be escaped, so the string is read character by character. Looking for the next quote and counting the
  // backslashes before it takes ten times as long for a string of escaped quotes.
  let at = start + 1
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    at += code === BACKSLASH ? 2 : 1
  }
  return text.length
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
