import { expect, it } from 'vitest'
import { questionParts } from '../../core/messages/question-part.ts'
import { artifactLine, messageText, oneLine, stateText } from './render.ts'

it('leaves nothing in a media type that could move the cursor', () => {
  const parts = [{ text: 'x', mediaType: '\u001b[2Jtext/plain' }]
  const line = artifactLine({ artifactId: 'a', parts }, (_, text) => text)
  expect(line).toBe('a  ([2Jtext/plain, 1 bytes)')
})

it('shows the choices of a question and the schema of an answer as text', () => {
  const choices = [{ value: 'squash' }, { value: 'merge', label: 'Merge commit' }]
  const parts = [{ text: 'How?' }, ...questionParts({ choices, schema: { type: 'string' } })]
  expect(messageText({ messageId: 'm', role: 'ROLE_AGENT', parts })).toBe(
    'How?\n(one of: squash, merge = Merge commit)\n(answer with JSON: {"type":"string"})',
  )
})

it('makes one row of a text with tabs, line breaks or controls of the writing direction', () => {
  expect(oneLine('a\tb\r\nc\u2028d \u202eexe\u2066')).toBe('a b c d exe')
  const parts = [{ text: 'a \u202eexe\u2069\u2028b\u200f' }]
  expect(messageText({ messageId: 'm', role: 'ROLE_AGENT', parts })).toBe('a exe\nb')
  expect(stateText('\u001b[2J\tnew', (_, text) => text)).toBe('[2J new')
})
