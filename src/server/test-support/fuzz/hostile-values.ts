/** Hostile values, and how they get into a valid one. For tests only. */

const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)])

export const hostile: readonly unknown[] = [
  null,
  [null],
  9e15,
  {},
  1e300,
  -1,
  'x'.repeat(20_000),
  [],
  0.5,
  '',
  { a: null },
  deep(300),
  '\u0000\ud800',
  8.64e15,
  [{ text: 1 }],
  true,
  '../*?#',
  Number.MAX_SAFE_INTEGER,
]

/** Where the name of the prototype, direction marks and names of the language stand for a value. */
export const hostileWords: readonly unknown[] = [
  JSON.parse('{"__proto__":{"tenant":"victim"}}'),
  '\u202egnp.exe\u2066\u2028',
  '\udc00',
  '__proto__',
  'constructor',
  '*',
  deep(60),
  Number.MIN_SAFE_INTEGER,
  '2026-99-99T99:99:99Z',
]

export type Path = readonly (string | number)[]

/** The place of every value in it, itself not included. */
export function placesIn(value: unknown): readonly Path[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => [
    [name],
    ...placesIn(member).map((rest) => [name, ...rest]),
  ])
}

/** A copy with another value at that place. An object may get a new member, also one named `__proto__`. */
export function withValue(value: unknown, [name, ...rest]: Path, hostileValue: unknown): unknown {
  if (name === undefined) return hostileValue
  const isObject = typeof value === 'object' && value !== null
  const copy: object = Array.isArray(value) ? [...value] : isObject ? { ...value } : {}
  const member: unknown = Object.getOwnPropertyDescriptor(copy, name)?.value
  const changed = withValue(member, rest, hostileValue)
  return Object.defineProperty(copy, name, {
    ...{ value: changed, enumerable: true, configurable: true, writable: true },
  })
}
