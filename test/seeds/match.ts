/**
 * An answer against the example it should equal, field by field. What may differ, and nothing else:
 *
 *  N1  ids      an id of the example stands for one id of ours, the same one wherever it occurs;
 *  N2  times    any ISO 8601 instant in UTC with milliseconds;
 *  N3  bytes    `<base64_…>` stands for any base64 of the file type it names;
 *  N4  message  `status.message` written as a string is a Message of the agent with that text;
 *  N5  more     fields the example does not show, where `additions` allows them;
 *  N6  lists    `[...]` stands for any list.
 */
import type { Loose } from './examples.ts'

/** The ids of the examples and the ones they stand for in this conversation. */
export interface Names {
  /** The example, with our ids in place of its own: a request that can be sent. */
  ours(example: Loose): Loose
  /** Learns that an id of the example stands for this one. False: it stands for another already. */
  bind(theirs: string, ours: string): boolean
}

export function createNames(): Names {
  const known = new Map<string, string>()
  const taken = new Map<string, string>()
  const replace = (value: Loose): Loose => {
    if (typeof value === 'string') return known.get(value) ?? value
    if (Array.isArray(value)) return value.map(replace)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, replace(inner)]))
  }
  return {
    ours: replace,
    bind(theirs, ours) {
      if (known.get(theirs) === ours) return true
      if (known.has(theirs) || taken.has(ours)) return false
      known.set(theirs, ours)
      taken.set(ours, theirs)
      return true
    },
  }
}

/** N5, everywhere: what A2A 0.3 has and the examples leave out, and the extensions' metadata. */
const ADDITIONS: readonly string[] = [
  'result.status.timestamp',
  'result.history',
  'result.metadata',
  'result.artifacts.*.metadata',
]

const IDS = /^(id|contextId|taskId|artifactId|handle|reminderId)$/
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/
const OUR_INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** The beginning of a file, by the type the example names. */
const BEGINNINGS: readonly (readonly [RegExp, string])[] = [
  [/png/i, '\x89PNG\r\n\x1a\n'],
  [/pdf/i, '%PDF-'],
]

/** Every difference, as `path: what`; none when the answer is the example. */
export function differences(
  answer: Loose,
  example: Loose,
  names: Names,
  additions: readonly string[] = [],
): readonly string[] {
  const allowed = [...ADDITIONS, ...additions].map((path) => path.split('.'))
  return compare(answer, example, [], { names, allowed })
}

interface Comparison {
  readonly names: Names
  readonly allowed: readonly (readonly string[])[]
}

function compare(
  answer: Loose,
  example: Loose,
  path: readonly string[],
  comparison: Comparison,
): readonly string[] {
  const { names } = comparison
  const differs = (what: string): readonly string[] => [`${path.join('.')}: ${what}`]
  if (typeof example === 'string') {
    // The JSON-RPC id is the caller's own and comes back as it was.
    if (path.length > 1 && IDS.test(path.at(-1) ?? '')) {
      if (typeof answer !== 'string' || answer === '') return differs('is no id')
      return names.bind(example, answer) ? [] : differs(`${answer} is not what ${example} was`)
    }
    if (INSTANT.test(example)) {
      return OUR_INSTANT.test(answer) ? [] : differs(`${answer} is no instant`)
    }
    if (example.startsWith('<base64')) return fileOf(answer, example) ? [] : differs('wrong bytes')
    if (path.join('.') === 'result.status.message') {
      return compare(answer, { kind: 'message', role: 'agent', parts: textParts(example) }, path, {
        ...comparison,
        allowed: [...comparison.allowed, ...messageFields.map((name) => [...path, name])],
      })
    }
  }
  if (Array.isArray(example)) {
    if (!Array.isArray(answer)) return differs('is no list')
    if (example.length === 1 && example[0] === '...') return []
    if (answer.length !== example.length) return differs(`has ${answer.length} entries`)
    return example.flatMap((one, index) =>
      compare(answer[index], one, [...path, `${index}`], comparison),
    )
  }
  if (typeof example === 'object' && example !== null) {
    if (typeof answer !== 'object' || answer === null) return differs('is no object')
    return [
      ...Object.keys(example).flatMap((key) =>
        key in answer
          ? compare(answer[key], example[key], [...path, key], comparison)
          : [`${[...path, key].join('.')}: is missing`],
      ),
      ...Object.keys(answer)
        .filter((key) => !(key in example) && !isAllowed([...path, key], comparison))
        .map((key) => `${[...path, key].join('.')}: is not in the example`),
    ]
  }
  return Object.is(answer, example) ? [] : differs(`${JSON.stringify(answer)}, not ${example}`)
}

const messageFields: readonly string[] = ['messageId', 'taskId', 'contextId', 'extensions']

function textParts(text: string): readonly object[] {
  return [{ kind: 'text', text }]
}

function fileOf(answer: Loose, example: string): boolean {
  if (typeof answer !== 'string') return false
  const file = Buffer.from(answer, 'base64')
  const beginning = BEGINNINGS.find(([type]) => type.test(example))?.[1] ?? ''
  return file.length > beginning.length && file.toString('latin1').startsWith(beginning)
}

function isAllowed(path: readonly string[], { allowed }: Comparison): boolean {
  return allowed.some(
    (one) =>
      one.length === path.length &&
      one.every((part, index) => part === path[index] || part === '*'),
  )
}
