/** Which tasks a process watches for their webhooks. */
import { expect, it } from 'vitest'
import { isTerminal } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import type { Engine } from '../../../engine/engine.ts'
import { keyIn } from '../../../testing/key-in.ts'
import { anyone, startTestEngine } from '../../test-support/test-engine.ts'
import { createCodecs } from '../codec/create-codecs.ts'
import { defaultConfig } from '../config.ts'
import { createPushes } from './pushes.ts'

const url = 'https://example.com/hook'
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A parked task, and whether the webhooks of a process want to be told of its changes. */
async function open() {
  const { engine, store, clock, ids, log } = await startTestEngine({})
  let isWatched: (taskId: string) => boolean = () => false
  const observed: Engine = {
    ...engine,
    watch(changed, wants = () => true) {
      isWatched = wants
      return engine.watch(changed, wants)
    },
  }
  const pushes = createPushes({
    engine: observed,
    store,
    clock,
    ids,
    log,
    codecs: createCodecs(defaultConfig),
    post: async () => undefined,
    timeoutMs: 10_000,
    random: () => 0,
    stillValid: async () => true,
    allowInner: false,
    webhooks: 10,
  })
  const data = { script: [{ park: { reason: 'r' } }, { complete: 'z' }] }
  const message = { messageId: 'm-1', role: 'ROLE_USER' as const, parts: [{ data }] }
  const sent = await engine.send(anyone, { message })
  if (sent.kind !== 'task') throw new Error('a task was expected')
  const { id } = sent.task
  const until = (wanted: (task: Task) => boolean): Promise<Task> =>
    engine.waitFor(anyone, id, wanted)
  const task = await until(({ state }) => state === 'paused-by-agent')
  async function finish(): Promise<void> {
    await engine.resume(anyone, { taskId: id })
    await until(({ state }) => isTerminal(state))
    while ((await store.pushes(...(await keyIn(store, id)))).some(({ done }) => !done)) await turn()
    await turn()
  }
  return { store, pushes, task, finish, isWatched: () => isWatched(id) }
}

it('watches a task until its webhooks are done', async () => {
  const { pushes, task, finish, isWatched } = await open()
  expect(isWatched()).toBe(false)
  await pushes.set(task, '1.0', { id: 'hook', url })
  expect(isWatched()).toBe(true)
  await finish()
  expect(isWatched()).toBe(false)
  pushes.close()
})

it('watches a task until its webhook is deleted', async () => {
  const { pushes, task, isWatched } = await open()
  await pushes.set(task, '1.0', { id: 'hook', url })
  await pushes.remove(task, 'hook')
  expect(isWatched()).toBe(false)
  pushes.close()
})

it('removes a webhook whose task is gone', async () => {
  const { store, pushes } = await open()
  const start = { createdAt: 1, sentSeq: 0, attempts: 0 }
  await store.putPush({
    id: 'hook',
    url,
    taskId: 'gone',
    owner: { tenant: 'acme', principal: 'ann' },
    version: '1.0',
    ...start,
  })
  await pushes.start()
  while ((await store.pushes(...(await keyIn(store, 'gone')))).length > 0) await turn()
  pushes.close()
})
