import type { Reminder } from './reminders.ts'

/**
 * The reminders as one block for a model, in order of arrival; empty when there are none. It belongs beside the
 * conversation, never in the user's history.
 *
 *   <reminders>
 *   <reminder speaker="system" source="ci" tags="a,b">body</reminder>
 *   </reminders>
 *
 * A reminder cannot forge an element, an attribute or the end of the block, and cannot contain text that is invisible to
 * a person who reads the block:
 *
 * - `&`, `<`, `>` and `"` become `&amp;`, `&lt;`, `&gt;` and `&quot;`, and a comma inside a tag `&#44;`;
 * - control characters other than tab and line feed, and characters that are invisible or turn the direction of the text
 *   (bidirectional controls, line and paragraph separators, tag characters), become numeric references such as `&#x202E;`;
 * - half a surrogate pair becomes U+FFFD, as it would on its way to a model.
 *
 * All other text is unchanged, so that unescaping returns every body, source and tag.
 *
 * @example
 * ```ts
 * import { agent, renderReminders } from 'lull'
 *
 * export const assistant = agent({
 *   name: 'assistant',
 *   description: 'Answers with a model',
 *   run: (task) =>
 *     task.turn(async ({ reminders }) => ({
 *       text: `The model was told: ${renderReminders(reminders)}`,
 *       done: true,
 *     })),
 * })
 * ```
 */
export function renderReminders(reminders: readonly Reminder[]): string {
  if (reminders.length === 0) return ''
  return ['<reminders>', ...reminders.map(render), '</reminders>'].join('\n')
}

function render({ roleHint, source, tags, body }: Reminder): string {
  const facts = [
    ` speaker="${roleHint}"`,
    source === undefined ? '' : ` source="${escaped(source)}"`,
    tags.length === 0 ? '' : ` tags="${tags.map(escapedTag).join(',')}"`,
  ]
  return `<reminder${facts.join('')}>${escaped(body)}</reminder>`
}

const escapedTag = (tag: string): string => escaped(tag).replaceAll(',', '&#44;')

const names: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}
const HALF_A_PAIR = /\p{Cs}/u

const MARKUP_OR_UNSEEN =
  /[&<>"]|\p{Cs}|(?![\t\n])\p{Cc}|[\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069]|[\u{E0000}-\u{E007F}]/gu

function escaped(text: string): string {
  return text.replace(MARKUP_OR_UNSEEN, (character) => {
    if (HALF_A_PAIR.test(character)) return '\uFFFD'
    const code = character.codePointAt(0) ?? 0
    return names[character] ?? `&#x${code.toString(16).toUpperCase()};`
  })
}
