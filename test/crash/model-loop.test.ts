/**
 * An `aiAgent` whose process is killed: in the middle of a model call, in the middle of a batch of tools, while an approval
 * is open, and at its records. Three readers follow it over A2A: one that is there all the time, one that comes back much
 * later, and one that comes late.
 *
 * Every eleventh commit is deadly here. `LULL_EVERY_RECORD=1` makes every commit deadly, which takes a minute.
 */
import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { refusals } from '../../src/ai/test-support/provider-rules.ts'
import { isTerminal } from '../../src/core/states.ts'
import type { Task } from '../../src/core/task.ts'
import { Died, killAll, spawnWorker, startWorker, type Worker } from '../support/worker-process.ts'
import { parseEffect, readEffects } from './effects-file.ts'
import { temporaryData } from './lives.ts'
import { createTextReader, type TextReader, textOf, writersOf } from './text-reader.ts'
import { readPrompts } from './writer.ts'

afterEach(killAll)

const STRIDE = process.env['LULL_EVERY_RECORD'] === undefined ? 11 : 1

const options = (data: string) => ({ data, a2a: true, agents: ['writer'] }) as const

/** @param messageId the same message is sent once */
async function send(worker: Worker, messageId = randomUUID()): Promise<string> {
  const message = { messageId, role: 'ROLE_USER', parts: [{ text: 'write' }] }
  const configuration = { returnImmediately: true }
  const sent = await worker.call('rpc', 'SendMessage', { message, configuration })
  return (sent as { result: { task: { id: string } } }).result.task.id
}

/** Reads until the process dies. */
async function readToDeath(reader: TextReader, worker: Worker, taskId: string): Promise<void> {
  await expect(reader.read(worker, taskId)).rejects.toThrow(Died)
}

const begins = (worker: Worker, name: string) =>
  worker.next((news): news is typeof news => {
    return news.kind === 'effect' && parseEffect(news.line).name === name
  })

async function grant(worker: Worker, taskId: string): Promise<Task> {
  const task = await worker.call('waitFor', taskId, ['user-consent-required', 'completed'])
  const { consentId } = task.question?.consent ?? {}
  if (consentId === undefined) return task
  const message = {
    messageId: randomUUID(),
    taskId,
    role: 'ROLE_USER',
    parts: [{ data: { consentId, decision: 'granted' } }],
  } as const
  await worker.call('send', { message })
  return worker.call('waitFor', taskId, ['completed', 'failed'])
}

const count = (data: string, name: string): number =>
  readEffects(data).filter((effect) => effect.name === name).length

/** The finished task over A2A, as one sees it who comes after its end. */
async function textsAfterwards(worker: Worker, id: string): Promise<readonly string[]> {
  const answer = await worker.call('rpc', 'GetTask', { id })
  const { artifacts } = (answer as { result: { artifacts: Parameters<typeof textOf>[0][] } }).result
  return artifacts.map(textOf)
}

/** What holds after every kind of death. */
async function judge(data: string, worker: Worker, id: string, readers: readonly TextReader[]) {
  const task = await worker.call('get', id)
  expect(task.state).toBe('completed')
  expect((await worker.call('verify', id)).faults).toEqual([])
  const recorded = task.artifacts.map(textOf as (artifact: object) => string)
  expect(recorded.map((text) => text.replace(/^\d+: /, ''))).toEqual([
    'I look around first.',
    'Now I deploy it.',
    'All of it is deployed and checked.',
  ])
  expect(recorded.map((text) => writersOf(text).length)).toEqual([1, 1, 1])
  for (const reader of readers) expect(reader.texts()).toEqual(recorded)
  expect(await textsAfterwards(worker, id)).toEqual(recorded)
  const prompts = readPrompts(data)
  expect(prompts.flatMap(refusals)).toEqual([])
  // A recorded answer stands in every later prompt as it was recorded.
  const last = JSON.stringify(prompts.at(-1))
  for (const text of recorded.slice(0, 2)) expect(last).toContain(JSON.stringify(text).slice(1, -1))
}

describe('an aiAgent whose process is killed', () => {
  it('in a model call, in a batch and with an open approval: every reader has the recorded text', async () => {
    const data = temporaryData()
    const [live, back, late] = [createTextReader(), createTextReader(), createTextReader()]

    const first = await startWorker({ ...options(data), hangsAt: 'model 0' })
    const id = await send(first)
    const reading = [live, back].map((reader) => readToDeath(reader, first, id))
    for (const reader of [live, back]) {
      await expect.poll(() => reader.texts().join()).toContain('around first.')
    }
    await first.kill()
    await Promise.all(reading)

    const second = spawnWorker({ ...options(data), hangsAt: 'search two' })
    const begun = begins(second, 'search two')
    await second.ready
    const secondReading = readToDeath(live, second, id)
    await begun
    await second.kill()
    await secondReading

    const third = await startWorker(options(data))
    const thirdReading = readToDeath(live, third, id)
    await third.call('waitFor', id, ['user-consent-required'])
    await third.kill()
    await thirdReading

    const fourth = await startWorker(options(data))
    const readers = [live, back, late]
    const last = readers.map((reader) => reader.read(fourth, id))
    // The late one is connected before the end, when it has what was recorded until then.
    await expect.poll(() => late.texts().length).toBe(2)
    await grant(fourth, id)
    await Promise.all(last)

    await judge(data, fourth, id, readers)
    const counts = ['model 0', 'model 1', 'model 2', 'search one', 'search two', 'deploy prod']
    expect(counts.map((name) => count(data, name))).toEqual([2, 1, 1, 1, 2, 1])
  })

  it('at its records: no answered model call is asked again, and every reader has the recorded text', async () => {
    const data = temporaryData()
    const live = createTextReader()
    const messageId = randomUUID()
    let deaths = 0
    for (;;) {
      const kill = { moment: 'after', nth: STRIDE, of: 'progress' } as const
      const worker = spawnWorker({ ...options(data), kill })
      try {
        await worker.ready
        const id = await send(worker, messageId)
        const reading = live.read(worker, id)
        const [task] = await Promise.all([grant(worker, id), reading])
        expect(isTerminal(task.state)).toBe(true)
        await judge(data, worker, id, [live])
        break
      } catch (error) {
        if (!(error instanceof Died)) throw error
        deaths++
      }
    }
    expect(deaths).toBeGreaterThanOrEqual(STRIDE === 1 ? 20 : 1)
    const asked = ['model 0', 'model 1', 'model 2'].map((name) => count(data, name))
    // A call that was not recorded when the process died is made once more.
    expect(asked.every((times) => times <= 2)).toBe(true)
    expect(count(data, 'deploy prod')).toBeLessThanOrEqual(2)
  })
})
