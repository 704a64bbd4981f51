import { expect, it } from 'vitest'
import type { Push } from '../../../core/push.ts'
import { sampleSnapshot } from '../../../testing/sample-task.ts'
import { createKeptProgress } from './deliver-records.ts'

const stored: Push = {
  id: 'w',
  url: 'https://example.com/',
  taskId: 'task',
  owner: { tenant: 'acme', principal: 'ann' },
  version: '1.0',
  createdAt: 1,
  sentSeq: 3,
  attempts: 0,
}
const task = sampleSnapshot('task', 10)

function kept() {
  const progress = createKeptProgress()
  progress.keep('w', stored, task)
  return progress
}

it('progress is used while the store has what it had, also when the last records had no events', () => {
  expect(kept().of('w', { ...stored }, 10)).toBe(task)
  expect(kept().of('w', { ...stored }, 12)).toBe(task)
})

it('progress is not used when the cursor went back, or another process moved it', () => {
  expect(kept().of('w', { ...stored, sentSeq: 2 }, 12)).toBeUndefined()
  expect(kept().of('w', { ...stored, sentSeq: 11 }, 12)).toBeUndefined()
})

it('progress is not used when the task went back behind it', () => {
  expect(kept().of('w', stored, 5)).toBeUndefined()
})

it('progress is not used for a webhook that was set again', () => {
  expect(kept().of('w', { ...stored, createdAt: 2 }, 12)).toBeUndefined()
})
