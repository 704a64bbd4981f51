/**
 * Texts of others on a terminal. Control characters move its cursor and change its colours; those of the C1 set do so as single
 * characters. Controls of the writing direction exchange words that are shown, and U+2028 and U+2029 begin lines.
 */

// biome-ignore lint/suspicious/noControlCharactersInRegex: the expressions find them
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g
const directions = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
const lines = /[\u2028\u2029]/g
/** All of them, but for the colours that the command line itself writes. */
const unprintable =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression finds them
  /\u001b(?!\[\d{1,2}m)|[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** The text without them. It may have several lines. */
export function plain(text: string): string {
  return text.replace(lines, '\n').replace(controls, '').replace(directions, '')
}

/**
 * What is printed, whoever wrote it: they are shown as escapes, such as `\u202e`. JSON stays the same JSON, because there they
 * stand in strings only. Every line that Lull prints goes through here.
 */
export function printable(text: string): string {
  return text.replace(unprintable, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
