import { createHash, createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { LogRecord } from '../records.ts'
import { redact } from '../redact.ts'
import { createKeyedSigner } from '../test-support/keyed-signer.ts'
import {
  commitPause,
  createStory,
  due,
  happen,
  hold,
  lift,
  MINUTE,
  only,
  park,
  pause,
  release,
  remind,
  resume,
  run,
  start,
  step,
  submit,
} from '../test-support/story.ts'
import type { Json } from '../values/json.ts'
import { canonical } from './canonical-json.ts'
import { verifyReceipts } from './check-receipts.ts'
import { sha256 } from './sha256.ts'

const signer = createKeyedSigner('key-1', 'a secret')

/** Every kind of act: pauses (at once and after quiescing), parks, wakes of every cause, a drain. */
function tell(taskId = 'task-1', by = signer): readonly LogRecord[] {
  const story = createStory(by)
  const conditions = {
    onEvent: 'built',
    timeout: { durationMinutes: 1, onTimeout: 'resume_with_input', input: 'late' },
  } as const
  story.tell(submit({ taskId }), start(), step('s'), remind('r-1'))
  story.tell(park('suspend-1', { conditions, summary: 'CI runs' }))
  story.wait(500)
  story.tell(happen('built', 11, { run: run('run-1') }), step('t'))
  story.tell(pause('suspend-2', { reason: 'lunch', conditions, atBoundary: false }))
  story.tell(pause('suspend-x', { mode: 'interrupt_immediate', atBoundary: false }), commitPause())
  story.wait(500)
  story.tell(resume({ input: { go: 'on' }, idempotencyKey: 'key', run: run('run-1') }))
  story.tell(release(), start())
  story.tell(park('suspend-3', { conditions }))
  story.wait(MINUTE)
  story.tell(due('run-1'))
  story.tell(hold('h-1'), lift('h-1', 'run-1'), pause('suspend-4'))
  return story.log
}

const log = tell()
const acts = ['paused', 'parked', 'resumed', 'released']
const indexesOf = (types: readonly string[]): readonly number[] =>
  log.flatMap((record, index) => (types.includes(record.type) ? [index] : []))
const receipts = indexesOf(['receipt'])
const problems = (records: readonly LogRecord[], by = signer): readonly string[] =>
  verifyReceipts(records, by).map((fault) => fault.problem)

describe('the receipts of a task', () => {
  it('are one per act, right behind it, numbered and chained', () => {
    expect(indexesOf(acts).map((index) => index + 1)).toEqual(receipts)
    let previous = ''
    for (const [index, record] of log.filter((entry) => entry.type === 'receipt').entries()) {
      expect(record.receipt).toMatchObject({ number: index + 1, previous, at: record.at })
      previous = sha256(canonical(record.receipt))
      expect(record.hash).toBe(previous)
    }
  })

  it('are faultless as they were written, also after a JSON round trip', () => {
    expect(verifyReceipts(log, signer)).toEqual([])
    expect(verifyReceipts(JSON.parse(JSON.stringify(log)), signer)).toEqual([])
  })

  it('say what kind of act they are for', () => {
    const kinds = receipts.map((index) => [log[index - 1]?.type, receiptAt(index).kind])
    expect(kinds).toEqual([
      ['parked', 'SuspensionReceipt'],
      ['resumed', 'ResumptionReceipt'],
      ['paused', 'SuspensionReceipt'],
      ['resumed', 'ResumptionReceipt'],
      ['released', 'DrainDecisionReceipt'],
      ['parked', 'SuspensionReceipt'],
      ['resumed', 'ResumptionReceipt'],
      ['paused', 'SuspensionReceipt'],
      ['resumed', 'ResumptionReceipt'],
      ['paused', 'SuspensionReceipt'],
    ])
  })

  it('sign everything but the signature: HMAC-SHA256 over canonical JSON', () => {
    const { signature, ed25519, ...unsigned } = receiptAt(receipts[0] ?? 0)
    const mac = createHmac('sha256', 'a secret').update(canonical(unsigned)).digest('hex')
    expect(signature).toBe(mac)
  })

  it('hold the hash of a resume input, never the input', () => {
    const facts = receipts.map((index) => receiptAt(index).facts)
    const sha = createHash('sha256').update('{"go":"on"}').digest('hex')
    expect(facts.map((fact) => fact['inputHash'])).toContain(sha)
    expect(JSON.stringify(facts)).not.toContain('"go"')
  })

  it('name the key they were signed with', () => {
    expect(receipts.every((index) => receiptAt(index).keyId === 'key-1')).toBe(true)
    const others = verifyReceipts(log, createKeyedSigner('key-2', 'a secret'))
    expect(others.map(({ unknownKey }) => unknownKey)).toEqual(receipts.map(() => 'key-1'))
    expect(problems(log, createKeyedSigner('key-1', 'another secret'))).toContain(
      'signature is wrong',
    )
  })

  it('verify in a redacted copy, which has no input and no event', () => {
    const copy = redact(log)
    expect(JSON.stringify(copy)).not.toContain('"go"')
    expect(verifyReceipts(copy, signer)).toEqual([])
    expect(verifyReceipts(redact(copy), signer)).toEqual([])
    const swapped = copy.map((record) =>
      record.type === 'resumed' ? { ...record, input: { 'lull:redacted': 'ff' } } : record,
    )
    expect(problems(swapped)).toContain('receipt disagrees with its resumed')
  })

  it('do not pass for those of another task', () => {
    const moved = log.map((record) =>
      record.type === 'submitted' ? { ...record, taskId: 'task-2' } : record,
    )
    expect(problems(moved)).toContain('receipt of another task (task-1)')
  })
})

describe('whoever holds no key', () => {
  it.each(receipts)('cannot alter the receipt at %d in any place', (index) => {
    for (const [path, altered] of alterations(log[index])) {
      expect(problems(log.with(index, altered)), path).not.toEqual([])
    }
  })

  it.each(indexesOf(acts))('cannot alter the act at %d in any place', (index) => {
    for (const [path, altered] of alterations(log[index])) {
      // Who runs next and the fingerprint of the code are not part of the act.
      if (/^(run\..*|fingerprint)$/.test(path)) continue
      expect(problems(log.with(index, altered)), path).not.toEqual([])
    }
  })

  it.each(indexesOf(['pause-requested', 'pause-upgraded']))(
    'cannot alter the request at %d of a pause that committed',
    (index) => {
      for (const [path, altered] of alterations(log[index])) {
        // One of them was upgraded: only the mode it ended with counts. That it had to wait, its commit shows.
        if (['at', 'quiesces', 'suspension.mode'].includes(path)) continue
        expect(problems(log.with(index, altered)), path).not.toEqual([])
      }
    },
  )

  it.each([...indexesOf(acts), ...receipts])('cannot remove the record at %d', (index) => {
    expect(problems(log.toSpliced(index, 1))).not.toEqual([])
  })

  it.each(indexesOf(acts).slice(0, -1))('cannot remove the act at %d with its receipt', (index) => {
    expect(problems(log.toSpliced(index, 2))).not.toEqual([])
  })

  it.each([...indexesOf(acts), ...receipts])('cannot repeat the record at %d', (index) => {
    expect(problems(log.toSpliced(index, 0, at(index)))).not.toEqual([])
  })

  it.each(indexesOf(acts))('cannot repeat the act at %d with its receipt', (index) => {
    expect(problems(log.toSpliced(index, 0, at(index), at(index + 1)))).not.toEqual([])
  })

  it('cannot swap any two receipts', () => {
    for (const one of receipts) {
      for (const other of receipts) {
        if (one >= other) continue
        const swapped = log.with(one, at(other)).with(other, at(one))
        expect(problems(swapped), `${one} and ${other}`).not.toEqual([])
      }
    }
  })

  it('cannot put receipts of a log signed with another key in their place', () => {
    const forged = tell('task-1', createKeyedSigner('key-1', 'a guess'))
    for (const index of receipts) {
      const record = forged[index]
      if (record !== undefined) expect(problems(log.with(index, record))).not.toEqual([])
    }
  })

  it('can only cut a log off behind a receipt', () => {
    for (let length = 0; length <= log.length; length++) {
      const ended = acts.includes(log[length - 1]?.type ?? '')
      const expected = ended ? [`${log[length - 1]?.type} has no receipt`] : []
      expect(problems(log.slice(0, length))).toEqual(expected)
    }
  })
})

describe('a fault', () => {
  it('says where it was found', () => {
    const act = only(log.slice(0, 6), 'parked')
    const faults = verifyReceipts(log.toSpliced(act.seq, 1), signer)
    expect(faults[0]).toEqual({ seq: act.seq, problem: 'parked has no receipt' })
  })

  it('is also a log that cannot be followed', () => {
    expect(problems(log.slice(1))).toEqual([
      'does not follow record 0',
      'cannot follow: a log begins with "submitted", not "started"',
    ])
  })
})

function at(index: number): LogRecord {
  const record = log[index]
  if (record === undefined) throw new Error(`no record at ${index}`)
  return record
}

function receiptAt(index: number): (LogRecord & { type: 'receipt' })['receipt'] {
  const record = at(index)
  if (record.type !== 'receipt') throw new Error(`no receipt at ${index}`)
  return record.receipt
}

/** Every way to change one leaf of the record, its type apart: the path, and the record with that leaf changed. */
function alterations(record: LogRecord | undefined): readonly (readonly [string, LogRecord])[] {
  return changes(record as unknown as Json)
    .filter(([path]) => path !== 'type')
    .map(([path, changed]) => [path, changed as unknown as LogRecord])
}

function changes(value: Json): readonly (readonly [path: string, changed: Json])[] {
  if (typeof value === 'string') return [['', `${value}0`]]
  if (typeof value === 'number') return [['', value + 1]]
  if (typeof value === 'boolean') return [['', !value]]
  if (value === null) return [['', 'something']]
  return Object.entries(value).flatMap(([key, inner]) =>
    changes(inner).map(([path, changed]) => {
      const whole = Array.isArray(value)
        ? value.with(Number(key), changed)
        : { ...value, [key]: changed }
      return [path === '' ? key : `${key}.${path}`, whole] as const
    }),
  )
}
