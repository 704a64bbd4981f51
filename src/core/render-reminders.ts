import type { Reminder } from './reminders.ts'

/**
 * The reminders as one block for a model, in order of arrival; empty when there are none.
 *
 * Bodies, tags and sources are escaped (`&`, `<`, `>`, `"`), so no reminder can forge the end of its element or of the
 * block, whatever it says. The block belongs beside the conversation, never in the user's history.
 */
export function renderReminders(reminders: readonly Reminder[]): string {
  if (reminders.length === 0) return ''
  return ['<reminders>', ...reminders.map(render), '</reminders>'].join('\n')
}

function render({ roleHint, source, tags, body }: Reminder): string {
  const facts = [
    ` speaker="${roleHint}"`,
    source === undefined ? '' : ` source="${escaped(source)}"`,
    tags.length === 0 ? '' : ` tags="${escaped(tags.join(','))}"`,
  ]
  return `<reminder${facts.join('')}>${escaped(body)}</reminder>`
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => escapes[character] ?? character)
}
