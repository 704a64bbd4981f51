/**
 * RFC 8785 canonical JSON: keys sorted by UTF-16 code units, numbers and strings as ECMAScript writes them, members
 * that are `undefined` left out. Equal values give the same text, so the text can be hashed, signed and compared.
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
  if (typeof value !== 'object') throw new TypeError(`a ${typeof value} has no canonical JSON`)
  return Array.isArray(value) ? list(value) : members(value as Record<string, unknown>)
}

function list(values: readonly unknown[]): string {
  let text = ''
  for (const value of values) text += `${text === '' ? '' : ','}${canonical(value ?? null)}`
  return `[${text}]`
}

function members(object: Readonly<Record<string, unknown>>): string {
  let text = ''
  for (const key of Object.keys(object).sort()) {
    const member = object[key]
    if (member === undefined) continue
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonical(member)}`
  }
  return `{${text}}`
}
