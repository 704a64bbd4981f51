import { describe, expect, it } from 'vitest'
import type { Message, Part } from '../../core/messages/message.ts'
import { parseScript } from './parse-script.ts'

const message = (...parts: readonly Part[]): Message => ({
  messageId: 'm1',
  role: 'ROLE_USER',
  parts,
})
const script = (...ops: readonly unknown[]): Message => message({ data: { script: ops } as never })

describe('where a script is found', () => {
  it('is the first data part', () => {
    const found = parseScript(message({ text: 'please' }, { data: { script: [{ say: 'hi' }] } }))
    expect(found).toEqual([{ say: 'hi' }])
  })

  it('is the text, for clients that can only send text', () => {
    expect(parseScript(message({ text: ' {"script": [{"say": "hi"}]}\n' }))).toEqual([
      { say: 'hi' },
    ])
  })

  it.each([
    ['text', { text: 'hello' }],
    ['other JSON', { text: '{"say": "hi"}' }],
    ['what only looks like JSON', { text: '{"script": [' }],
    ['other data', { data: { say: 'hi' } }],
    ['a file', { raw: 'aGk=' }],
  ])('is not in %s', (_what, part) => {
    expect(parseScript(message(part))).toBeUndefined()
  })
})

describe('what is refused, and how it is named', () => {
  it.each([
    ['no list', { data: { script: 'say hi' } }, 'script: must be a list of ops'],
    ['something beside it', { data: { script: [], note: 1 } }, 'note: is not a known field'],
  ])('a script that is %s', (_what, part, why) => {
    expect(() => parseScript(message(part as Part))).toThrow(why)
  })

  it.each<[string, readonly unknown[], string]>([
    ['an unknown op', [{ say: 'a' }, { jump: 1 }], '1: unknown op "jump"'],
    ['a name from the prototype', [{ constructor: 1 }], '0: unknown op "constructor"'],
    ['no op', ['say'], '0: must be an object'],
    ['two ops in one', [{ say: 'a', ask: 'b' }], '0: has both "say" and "ask"; one op each'],
    ['a wrong type', [{ say: 'a' }, { step: 7 }], '1.step: '],
    ['an unknown field', [{ say: 'a', loud: true }], '0.loud: is not a known field'],
    ['a nested op', [{ say: 'a' }, { say: 'b' }, { turn: [{ jump: 1 }] }], '2.turn.0: unknown op'],
    ['an op in a branch', [{ parallel: [[], [{ say: 1 }]] }], '0.parallel.1.0.say: '],
    ['an op in a loop', [{ repeat: 2, ops: [{ say: 1 }] }], '0.ops.0.say: '],
    ['an op of a child', [{ delegate: { script: [{ say: 1 }] } }], '0.delegate.script.0.say: '],
    ['a tool outside a turn', [{ tool: 'a' }], '0: "tool" belongs into a turn'],
    ['a turn in a turn', [{ turn: [{ turn: [] }] }], '0.turn.0: "turn" cannot be inside a turn'],
    ['a late reply', [{ say: 'a' }, { reply: 'b' }], '1: a reply may only come first'],
    ['more after a reply', [{ reply: 'a' }, { say: 'b' }], '0: nothing may follow a reply'],
    [
      'conditions of another shape',
      [{ park: { reason: 'ci', conditions: { timeout: { durationMinutes: 0 } } } }],
      '0.park.conditions.timeout.durationMinutes: must be greater than 0',
    ],
    ['an artifact of nothing', [{ artifact: { name: 'a' } }], '0.artifact: must have exactly one'],
    [
      'data in chunks',
      [{ artifact: { name: 'a', data: 1, chunks: 2 } }],
      '0.artifact: only text and base64 come in chunks',
    ],
    ['a reminder of nothing', [{ child: 'remind' }], '0.body: a reminder needs one'],
    ['a negative time', [{ step: 'a', ms: -1 }], '0.ms: '],
  ])('%s', (_what, ops, why) => {
    let refusal: unknown
    try {
      parseScript(script(...ops))
    } catch (error) {
      refusal = error
    }
    expect(refusal).toMatchObject({ name: 'Rejection' })
    expect((refusal as Error).message).toContain(why)
  })
})
