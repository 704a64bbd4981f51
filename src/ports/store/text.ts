/**
 * Encodes identifiers as text of a database. Databases and their drivers reject NUL or truncate a
 * string there, and replace lone surrogates, so two different ids (or tenants) could become equal.
 * Control characters and lone surrogates are therefore escaped. Other strings are stored unchanged.
 * JSON bodies need no escaping, because `JSON.stringify` escapes both.
 */
const unsafe = /[\p{Cc}\p{Cs}]/u
const everyUnsafe = /[\p{Cc}\p{Cs}]/gu

/** DEL is a control character and is escaped itself, so an unescaped DEL always starts an escape. */
const MARK = '\x7f'

export function toText(value: string): string {
  if (!unsafe.test(value)) return value
  return value.replace(
    everyUnsafe,
    (char) => MARK + char.charCodeAt(0).toString(16).padStart(4, '0'),
  )
}

export function fromText(text: string): string {
  if (!text.includes(MARK)) return text
  const [head = '', ...tail] = text.split(MARK)
  return (
    head +
    tail
      .map((piece) => String.fromCharCode(Number.parseInt(piece.slice(0, 4), 16)) + piece.slice(4))
      .join('')
  )
}
