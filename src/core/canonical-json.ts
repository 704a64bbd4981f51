import type { Json } from './json.ts'

/**
 * RFC 8785 canonical JSON: keys sorted by UTF-16 code units, numbers and strings as ECMAScript writes them, members
 * that are `undefined` left out. Two equal values give the same text, so texts can be hashed, signed and compared.
 */
export function canonical(value: unknown): string {
  if (value === undefined) return ''
  if (value === null || typeof value === 'boolean' || typeof value === 'string') {
    return JSON.stringify(value)
  }
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError(`${value} has no canonical JSON`)
    return JSON.stringify(value)
  }
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item ?? null)).join(',')}]`
  if (typeof value !== 'object') throw new TypeError(`a ${typeof value} has no canonical JSON`)
  const members = Object.keys(value)
    .sort()
    .flatMap((key) => {
      const member = (value as Record<string, Json | undefined>)[key]
      return member === undefined ? [] : [`${JSON.stringify(key)}:${canonical(member)}`]
    })
  return `{${members.join(',')}}`
}
