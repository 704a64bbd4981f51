/**
 * Text from others must not control a terminal. Control characters can move the cursor and change
 * colours, also the single characters of the C1 set; bidirectional controls reorder the text that
 * is shown; U+2028 and U+2029 begin lines.
 */

// biome-ignore lint/suspicious/noControlCharactersInRegex: the expressions find them
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g
const directions = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
const lines = /[\u2028\u2029]/g
/** All of these characters except the colours that the command line itself writes. */
const unprintable =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression finds them
  /\u001b(?!\[\d{1,2}m)|[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** The text without these characters. It may have several lines. */
export function plain(text: string): string {
  return text.replace(lines, '\n').replace(controls, '').replace(directions, '')
}

/**
 * Shows these characters as escapes, such as `\u202e`. JSON keeps its meaning, because in JSON they
 * occur only inside strings. Every line that Lull prints passes through this function.
 */
export function printable(text: string): string {
  return text.replace(unprintable, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
