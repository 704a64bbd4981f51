/**
 * Identifiers as SQLite text. Drivers cut a string at its first NUL and replace lone surrogates, so that two different
 * ids (or tenants) could become one. Escaping control characters and lone surrogates keeps different strings different;
 * ordinary ones are stored as they are. JSON bodies need none of this: `JSON.stringify` escapes both.
 */
const unsafe = /[\p{Cc}\p{Cs}]/u
const everyUnsafe = /[\p{Cc}\p{Cs}]/gu

/** DEL, itself a control character, so it never stands for itself. */
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
