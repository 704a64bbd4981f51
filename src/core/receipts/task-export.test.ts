import { expect, it } from 'vitest'
import type { LogRecord } from '../records.ts'
import { createKeyedSigner } from '../test-support/keyed-signer.ts'
import { createStory, park, resume, run, start, step, submit } from '../test-support/story.ts'
import type { Verifier } from './receipt.ts'
import { checkExport, makeExport, type TaskExport } from './task-export.ts'

const signer = createKeyedSigner('key-1', 'a secret')
const outsider: Verifier = { ...signer, verify: () => 'unknown-key' }

function exported(redacted = false): TaskExport {
  const story = createStory(signer)
  story.tell(submit({ taskId: 'task-1' }), start(), step('s'), park('suspend-1'))
  story.tell(resume({ input: { go: 'on' }, run: run('run-1') }), step('t'))
  return makeExport(story.log, { taskId: 'task-1', lull: '0.1.0', at: 7, redacted }, signer)
}

const problems = (file: TaskExport, by: Verifier = outsider): readonly string[] =>
  checkExport(file, by).faults.map(({ problem }) => problem)

it('an export is verified by its owner and by an outsider', () => {
  expect(problems(exported(), signer)).toEqual([])
  expect(problems(exported())).toEqual([])
  expect(checkExport(exported(), outsider).receipts.map(({ verdict }) => verdict)).toEqual([
    'genuine',
    'genuine',
  ])
})

it('a redacted export has no content, and is verified too', () => {
  const file = exported(true)
  expect(JSON.stringify(file)).not.toContain('"go"')
  expect(file.header.redacted).toBe(true)
  expect(problems(file)).toEqual([])
})

it('finds records that were removed, added, moved or changed, also behind the last receipt', () => {
  const { header, records } = exported()
  for (let index = 0; index < records.length; index++) {
    const changed = { ...records[index], at: 5 } as LogRecord
    for (const altered of [
      records.toSpliced(index, 1),
      records.slice(0, index),
      records.toSpliced(index, 0, changed),
      records.with(index, changed),
    ]) {
      expect(problems({ header, records: altered })).not.toEqual([])
    }
  }
  expect(problems({ header, records: records.toReversed() })).not.toEqual([])
})

it('finds every change of the header', () => {
  const { header, records } = exported()
  const changes: Partial<Record<keyof TaskExport['header'], unknown>> = {
    taskId: 'task-2',
    lull: '9',
    exportedAt: 8,
    records: 2,
    digest: 'ff',
    redacted: true,
    keys: [{}],
    ed25519: 'ff',
  }
  for (const [name, value] of Object.entries(changes)) {
    expect(problems({ header: { ...header, [name]: value }, records }), name).not.toEqual([])
  }
})

it('tells a key that is not known from a wrong signature', () => {
  const { faults } = checkExport(exported(), createKeyedSigner('key-2', 'another'))
  expect(faults.every(({ unknownKey }) => unknownKey === 'key-1')).toBe(true)
  expect(faults[0]?.seq).toBe(0)
})
