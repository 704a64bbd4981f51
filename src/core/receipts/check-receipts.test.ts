import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { fold } from '../evolve.ts'
import type { LogRecord } from '../records.ts'
import { redact } from '../redact.ts'
import type { Task } from '../task.ts'
import { createKeyedSigner } from '../test-support/keyed-signer.ts'
import {
  createStory,
  message,
  park,
  pause,
  record,
  resume,
  run,
  start,
  step,
  submit,
} from '../test-support/story.ts'
import { canonical } from './canonical-json.ts'
import { checkReceipts } from './check-receipts.ts'
import type { Verifier } from './receipt.ts'
import { anchorFaults, makeAnchor } from './receipt-anchor.ts'
import { sha256 } from './sha256.ts'

const signer = createKeyedSigner('key-1', 'a secret')
/** Has the public key alone. */
const outsider: Verifier = { ...signer, verify: () => 'unknown-key' }

const said = { type: 'said', key: 'said', message: message('m-2', 'half way') } as const

function tell(taskId = 'task-1'): readonly LogRecord[] {
  const story = createStory(signer)
  story.tell(submit({ taskId }), start(), step('s'), park('suspend-1'))
  story.wait(500)
  story.tell(resume({ input: { go: 'on' }, run: run('run-1') }), record(said), pause('suspend-2'))
  return story.log
}

const log = tell()
const places = log.flatMap(({ type }, index) => (type === 'receipt' ? [index] : []))
const folded = (records: readonly LogRecord[]): Task => fold(records) as Task
const anchor = makeAnchor(folded(log), signer)

const problemsIn = (
  records: readonly LogRecord[],
  by: Verifier = signer,
  anchored = anchor,
): readonly string[] => [
  ...checkReceipts(records, by).faults.map(({ problem }) => problem),
  ...anchorFaults('task-1', records, anchored, by).map(({ problem }) => problem),
]

describe('a receipt', () => {
  it('is verified by both signatures, and by the public key alone', () => {
    const verdicts = (by: Verifier) =>
      checkReceipts(log, by).receipts.map(({ verdict, verifiedBy }) => [verdict, ...verifiedBy])
    expect(verdicts(signer)).toEqual(places.map(() => ['genuine', 'hmac-sha256', 'ed25519']))
    expect(verdicts(outsider)).toEqual(places.map(() => ['genuine', 'ed25519']))
    expect(checkReceipts(log, outsider).faults).toEqual([])
    const stranger = createKeyedSigner('key-2', 'a secret')
    expect(verdicts(stranger)).toEqual(places.map(() => ['unknown-key']))
  })

  it('shows every change of a single bit to an outsider', () => {
    const short = log.slice(0, (places[0] ?? 0) + 1)
    const last = short.at(-1)
    const text = JSON.stringify(last)
    for (const changed of bitChanges(text)) {
      const altered = parsed(changed)
      // JSON that cannot be read, and JSON that says the same, are no changes of the receipt.
      if (altered === undefined || canonical(altered) === canonical(last)) continue
      const { faults } = checkReceipts(short.with(-1, altered), outsider)
      if (faults.length === 0) expect.fail(`not found: ${changed}`)
    }
  })

  it('covers what the task was given and has said', () => {
    const texts = log.flatMap((record, index) =>
      ['submitted', 'said'].includes(record.type) ? [index] : [],
    )
    expect(texts).toHaveLength(2)
    for (const index of texts) {
      const altered = JSON.parse(JSON.stringify(log[index]).replace(/"text":"/, '"text":"not '))
      expect(altered).not.toEqual(log[index])
      const { faults, receipts } = checkReceipts(log.with(index, altered), outsider)
      const problem = 'receipt disagrees with the messages or artifacts of the task'
      const later = places.filter((place) => place > index).map((place) => place + 1)
      expect(faults).toEqual(later.map((seq) => ({ seq, problem })))
      expect(receipts.map(({ verdict }) => verdict)).toEqual(
        places.map((place) => (place > index ? 'wrong' : 'genuine')),
      )
    }
  })

  it('verifies in a redacted copy, which has no input, and no text', () => {
    const copy = redact(log)
    expect(JSON.stringify(copy)).not.toMatch(/"go"|half way/)
    expect(problemsIn(copy)).toEqual([])
    expect(problemsIn(redact(copy))).toEqual([])
    const marker = JSON.stringify(copy).replace(/"lull:redacted":"./, '"lull:redacted":"x')
    expect(checkReceipts(JSON.parse(marker), signer).faults).not.toEqual([])
  })

  it('is not accepted without the signature for outsiders', () => {
    const stripped = log.map((record) => {
      if (record.type !== 'receipt') return record
      const { ed25519: _, ...receipt } = record.receipt
      return { ...record, receipt, hash: sha256(canonical(receipt)) }
    })
    expect(checkReceipts(stripped, signer).receipts[0]?.verdict).toBe('wrong')
  })
})

describe('a log of the first version', () => {
  const lines = readFileSync(
    new URL('../test-support/logs/receipts-1.jsonl', import.meta.url),
    'utf8',
  )
  const old = lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as LogRecord)
  const key = createKeyedSigner('9c0434f59cd31098', 'the key of the fixtures')

  it('verifies as before, by HMAC only and without an anchor', () => {
    const { receipts, faults } = checkReceipts(old, key)
    expect(faults).toEqual([])
    expect(receipts.map(({ verifiedBy }) => verifiedBy)).toEqual(
      receipts.map(() => ['hmac-sha256']),
    )
    expect(anchorFaults('task-1', old, null, key)).toEqual([])
  })

  it('tells an outsider that a key is needed', () => {
    const { faults } = checkReceipts(old, { ...key, verify: () => 'unknown-key' })
    expect(faults).toHaveLength(7)
    expect(faults[0]).toMatchObject({ unknownKey: key.keyId })
    expect(faults[0]?.problem).toContain('by HMAC only')
  })
})

describe('the anchor of a log', () => {
  it('shows that the end was cut off, wherever', () => {
    expect(problemsIn(log)).toEqual([])
    for (let length = 1; length < log.length; length++) {
      expect(problemsIn(log.slice(0, length)), `${length} records`).not.toEqual([])
    }
    const cut = log.slice(0, (places[0] ?? 0) + 1)
    expect(problemsIn(cut)).toEqual(['the log was cut off: it has 1 of 3 receipts'])
  })

  it('cannot be removed, made by hand, or taken from another task', () => {
    const cut = log.slice(0, (places[0] ?? 0) + 1)
    const { receipts } = folded(cut)
    const forged = `1 ${receipts.head} key-1 ${sha256('a guess')}`
    expect(anchorFaults('task-1', cut, null, signer)[0]?.problem).toContain('is missing')
    expect(anchorFaults('task-1', cut, forged, signer)[0]?.problem).toContain('signature')
    const others = makeAnchor({ id: 'task-2', receipts }, signer)
    expect(anchorFaults('task-1', cut, others, signer)[0]?.problem).toContain('signature')
    for (const changed of bitChanges(anchor)) {
      if (anchorFaults('task-1', log, changed, signer).length === 0) expect.fail(changed)
    }
  })

  it('tells a key that is not known here from a wrong signature', () => {
    const stranger = createKeyedSigner('key-2', 'another')
    const [fault] = anchorFaults('task-1', log, anchor, stranger)
    expect(fault?.unknownKey).toBe('key-1')
  })

  it('accepts a log that has grown since it was written', () => {
    const early = makeAnchor(folded(log.slice(0, (places[1] ?? 0) + 1)), signer)
    expect(anchorFaults('task-1', log, early, signer)).toEqual([])
  })
})

it('does not accept the whole log of one task as that of another', () => {
  const other = tell('task-2')
  const renamed = other.map((record) =>
    record.type === 'submitted' ? { ...record, taskId: 'task-1' } : record,
  )
  expect(checkReceipts(renamed, outsider).faults).not.toEqual([])
  for (const place of places) {
    const record = other[place]
    if (record !== undefined) expect(problemsIn(log.with(place, record))).not.toEqual([])
  }
})

function* bitChanges(text: string): Generator<string> {
  const bytes = Buffer.from(text)
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const changed = Buffer.from(bytes)
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    yield changed.toString()
  }
}

/** Undefined when it is not a record. */
function parsed(text: string): LogRecord | undefined {
  try {
    return JSON.parse(text) as LogRecord
  } catch {
    return undefined
  }
}
