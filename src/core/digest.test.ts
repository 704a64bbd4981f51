import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type DigestLog, defaultDigest, followDigest } from './digest.ts'
import type { Artifact, Message } from './messages/message.ts'
import type { LogRecord } from './records.ts'
import type { Wake } from './suspension.ts'
import type { Task } from './task.ts'
import { message } from './test-support/story.ts'
import type { Json } from './values/json.ts'

// The same cases every time.
fc.configureGlobal({ seed: 8785 })

const artifact = (artifactId: string, name?: string): Artifact => ({
  artifactId,
  parts: [{ text: '…' }],
  ...(name === undefined ? {} : { name }),
})

const task = (some: Partial<Task>): Task => ({ history: [], artifacts: [], ...some }) as Task

const spoken = (text: string): Message => ({ ...message('said', text), role: 'ROLE_AGENT' })

const stepRecord = (name: string, result?: Json): LogRecord =>
  ({ type: 'step', key: `step:${name}#1`, name, attempt: 1, result }) as LogRecord

const turnEnded = (...contents: readonly Json[]): LogRecord => ({
  type: 'turn-ended',
  seq: 9,
  at: 0,
  key: 'turn-end:#1',
  turn: 1,
  transcript: contents.map((content) => ({ turn: 1, role: 'agent', content })),
})

function digest(some: Partial<Task>, ...log: readonly LogRecord[]): string {
  const seen = log.reduce<DigestLog>(followDigest, { steps: [] })
  return defaultDigest(task(some), seen)
}

const wake = {
  cause: 'timeout',
  reason: 'waiting on ci/build:7',
  stoppedBy: { kind: 'agent', id: 'rebase-worker' },
} as Wake

describe('the default digest', () => {
  it('says what was asked, said, recorded and done, the artifacts and why it stopped', () => {
    const history = [message('1', 'Rebase main'), spoken('On it'), message('2', 'Hurry')]
    const artifacts = [artifact('a-1', 'result.patch'), artifact('a-2')]
    const log = [stepRecord('plan', { sha: 'abc' }), stepRecord('start ci', 'build 7')]
    expect(digest({ history, artifacts, wake }, ...log, turnEnded('ok', 'ci runs'))).toBe(
      [
        'Asked: Rebase main',
        'Asked last: Hurry',
        'Said last: On it',
        'Recorded last: ci runs',
        'Step start ci: build 7',
        'Step plan: {"sha":"abc"}',
        'Artifacts: result.patch, a-2',
        'Stopped: waiting on ci/build:7 (by agent rebase-worker); resumed by timeout',
      ].join('\n'),
    )
  })

  it('shows a data message as compact JSON, not as "Asked: " alone', () => {
    const asked = { ...message('1'), parts: [{ data: { script: [{ step: 'a' }] } }] }
    expect(digest({ history: [asked] })).toBe('Asked: {"script":[{"step":"a"}]}')
  })

  it('names the files of a message', () => {
    const parts = [{ text: 'Sum up' }, { raw: 'AA==', filename: 'a.pdf' }, { url: 'https://x/y' }]
    expect(digest({ history: [{ ...message('1'), parts }] })).toBe(
      'Asked: Sum up\n[file a.pdf]\n[file https://x/y]',
    )
  })

  it('prefers the message that is the status now to older ones', () => {
    const history = [message('1', 'Go'), spoken('first')]
    expect(digest({ history, statusMessage: spoken('second') })).toContain('Said last: second')
  })

  it('says that a step failed, and leaves out what has no result', () => {
    const failed = { ...stepRecord('deploy'), failure: { name: 'Error', message: 'no\nroute' } }
    const log = [stepRecord('ping'), failed as LogRecord]
    expect(digest({ history: [message('1', 'Go')] }, ...log)).toBe(
      'Asked: Go\nStep deploy failed: no route\nStep ping',
    )
  })

  it('lists the newest steps until the room is used', () => {
    const log = Array.from({ length: 500 }, (_, n) => stepRecord(`s${n}`, 'x'.repeat(50)))
    const text = digest({ history: [message('1', 'Go')], wake }, ...log)
    expect(text).toContain('Step s499: ')
    expect(text).toContain('\nStopped: ')
    expect(text).not.toContain('Step s1: ')
    expect(text.length).toBeGreaterThan(1_900)
  })

  it('lets no long message and no long result hide the rest', () => {
    const history = [message('1', 'x'.repeat(50_000)), message('2', 'Go on')]
    const text = digest({ history, wake }, stepRecord('read', 'y'.repeat(50_000)))
    expect(text).toMatch(/^Asked: x{1000,}…\nAsked last: Go on\nStep read: y{100,}…\nStopped: /)
  })

  it('is kept whole up to 2,000 characters', () => {
    const text = 'x'.repeat(1_999 - 'Asked: '.length)
    expect(digest({ history: [message('1', text)] })).toBe(`Asked: ${text}`)
    expect(digest({ history: [message('1', `${text}xx`)] })).toMatch(/…$/)
  })

  it('has at most 2,000 characters and is never empty, whatever was said and done', () => {
    const text = fc.string({ maxLength: 3_000, size: 'max', unit: 'grapheme' })
    const texts = fc.array(text, { maxLength: 4 })
    fc.assert(
      fc.property(text, texts, texts, fc.array(fc.tuple(text, fc.jsonValue())), (...given) => {
        const [first, said, names, results] = given
        const history = [first, ...said].map((body, index) => message(`m-${index}`, `.${body}`))
        const artifacts = names.map((name, index) => artifact(`a-${index}`, name))
        const log = results.map(([name, result]) => stepRecord(name, result as Json))
        const made = digest({ history, artifacts, wake }, ...log, turnEnded(first))
        expect(made.length).toBeLessThanOrEqual(2_000)
        expect(made).toMatch(/^Asked: \./)
        expect(() => encodeURIComponent(made)).not.toThrow()
      }),
    )
  })
})
