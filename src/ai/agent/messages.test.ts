import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { TranscriptEntry } from '../../core/messages/transcript.ts'
import type { Json } from '../../core/values/json.ts'
import { toJournal } from '../model/journal-value.ts'
import { refusals } from '../test-support/provider-rules.ts'
import { acceptable, createRename, messagesOf } from './messages.ts'

/** What a model may answer: texts, some empty, and calls whose ids repeat and whose inputs are no objects. */
const answer = fc.record({
  text: fc.constantFrom('', 'I look.'),
  calls: fc.array(
    fc.record({ id: fc.constantFrom('a', 'b'), input: fc.constantFrom<Json>({}, 'x', null) }),
    { maxLength: 3 },
  ),
  /** How many of the results are recorded. */
  results: fc.nat(3),
  /** Whether the turn recorded results at all. */
  stopped: fc.boolean(),
})

/** The transcript of a task whose model gave these answers. */
function transcriptOf(
  answers: readonly (typeof answer extends fc.Arbitrary<infer A> ? A : never)[],
) {
  const transcript: TranscriptEntry[] = [{ turn: 1, role: 'user', content: [{ text: 'go' }] }]
  for (const [index, { text, calls, results, stopped }] of answers.entries()) {
    const turn = index + 1
    const rename = createRename(transcript)
    const content = acceptable(
      [
        { type: 'text', text },
        ...calls.map(({ id, input }) => ({
          type: 'tool-call' as const,
          toolCallId: id,
          toolName: 'search',
          input,
        })),
      ],
      rename,
    )
    transcript.push({ turn, role: 'agent', content: toJournal(content) })
    const ids = content.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : []))
    const recorded = ids.slice(0, results).map((toolCallId) => ({
      type: 'tool-result',
      toolCallId,
      toolName: 'search',
      output: { type: 'text', value: 'ok' },
    }))
    if (!stopped) transcript.push({ turn, role: 'tool', content: recorded })
    if (stopped) transcript.push({ turn, role: 'user', content: [{ text: 'and now?' }] })
  }
  return transcript
}

const isAboutLast = (why: string): boolean => why.includes('the last message is an answer')

describe('the messages of a transcript', () => {
  it('V1 to V4: are taken by every provider, wherever the transcript is cut', () => {
    fc.assert(
      fc.property(
        fc.array(answer, { maxLength: 5 }),
        fc.nat(20),
        fc.nat(20),
        (answers, from, to) => {
          const whole = transcriptOf(answers)
          const start = Math.min(from, whole.length)
          const cut = whole.slice(start, start + to + 1)
          expect(refusals(messagesOf(cut)).filter((why) => !isAboutLast(why))).toEqual([])
        },
      ),
      { numRuns: 1_000 },
    )
  })

  it('V5: has files, data, and links of the user as files only where the model loads them', () => {
    const content = [
      { text: 'look' },
      { data: { a: 1 } },
      { raw: 'AQID', mediaType: 'image/png', filename: 'a.png' },
      { url: 'https://lull.test/a.pdf', mediaType: 'application/pdf' },
    ]
    const takesUrl = (mediaType: string): boolean => mediaType === 'application/pdf'
    expect(messagesOf([{ turn: 1, role: 'user', content }], takesUrl)).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'look' },
          { type: 'text', text: '{"a":1}' },
          { type: 'file', data: 'AQID', mediaType: 'image/png', filename: 'a.png' },
          { type: 'file', data: new URL('https://lull.test/a.pdf'), mediaType: 'application/pdf' },
        ],
      },
    ])
  })
})
