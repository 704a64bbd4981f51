import { expect, it } from 'vitest'
import type { Task } from '../../core/task.ts'
import type { Caller } from '../../engine/caller.ts'
import type { Changes } from '../../wire/ops/tasks.ts'
import { changesFor } from './changes.ts'

const operator: Caller = { tenant: 'default', principal: 'o', operator: true }

function feed(caller = operator) {
  let now = 0
  let changed: (task: Task) => void = () => undefined
  let watching = true
  const timers: { readonly at: number; readonly callback: () => void }[] = []
  const source = changesFor(
    {
      engine: {
        watch(callback) {
          changed = callback
          return () => {
            watching = false
          }
        },
      },
      now: () => now,
      after: (ms, callback) => {
        timers.push({ at: now + ms, callback })
        return () => undefined
      },
      heartbeat: { add: () => undefined, delete: () => undefined },
    },
    caller,
  )
  const read = async (): Promise<Changes | undefined> => {
    const { text, last } = await source.next()
    return last ? undefined : JSON.parse(/data: (.*)/.exec(text)?.[1] ?? '')
  }
  return {
    source,
    read,
    change: (id: string, version: number) => changed(task(id, version)),
    pass(ms: number) {
      now += ms
      for (const timer of timers.splice(0)) {
        if (timer.at <= now) timer.callback()
        else timers.push(timer)
      }
    },
    watching: () => watching,
  }
}

function task(id: string, version: number, tenant = 'default'): Task {
  return {
    id,
    tenant,
    principal: 'p',
    agent: 'a',
    contextId: 'c',
    version,
    createdAt: 0,
    updatedAt: 0,
    state: 'working',
    statusAt: 0,
    history: [],
    artifacts: [],
    queued: [],
    epoch: 0,
    resumes: [],
    holds: [],
    deaths: 0,
    abandoned: [],
    turn: 0,
    journal: { generation: 0, afterSeq: 0, countFrom: 0, voided: [] },
    reminders: [],
    reminded: [],
    children: [],
    usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
    eventsAfter: 0,
    consumed: [],
    receipts: { count: 0, head: '' },
  }
}

const seen = (changes: Changes | undefined) =>
  changes?.tasks.map(({ taskId, version }) => [taskId, version])

it('F1: tells each task once per interval, as it is then', async () => {
  const { read, change, pass } = feed()
  expect(await read()).toEqual({ tasks: [], more: false })
  change('a', 1)
  expect(seen(await read())).toEqual([['a', 1]])
  const next = read()
  for (let version = 2; version <= 50; version++) change('a', version)
  change('b', 1)
  await Promise.resolve()
  pass(250)
  expect(seen(await next)).toEqual([
    ['a', 50],
    ['b', 1],
  ])
})

it('F1: a thousand changes a second are at most four messages a second, of a bounded size', async () => {
  const { source, read, change, pass } = feed()
  await read()
  const messages: number[] = []
  const reading = (async () => {
    for (let next = await read(); next !== undefined; next = await read()) {
      messages.push(JSON.stringify(next).length)
    }
  })()
  for (let ms = 0; ms < 10_000; ms++) {
    change(`t${ms}`, 1)
    pass(1)
    await new Promise(setImmediate)
  }
  source.close()
  await reading
  expect(messages.length).toBeGreaterThan(1)
  expect(messages.length).toBeLessThanOrEqual(41)
  expect(Math.max(...messages)).toBeLessThan(200 * 500)
})

it('F2: keeps no more than a message holds for a reader that is slow', async () => {
  const { read, change } = feed()
  await read()
  for (let number = 0; number < 5_000; number++) change(`t${number}`, 1)
  const changes = await read()
  expect([changes?.tasks.length, changes?.more]).toEqual([200, true])
})

it('tells nothing of another tenant', async () => {
  const { read, change, source } = feed({ ...operator, tenant: 'other' })
  await read()
  const next = read()
  change('a', 1)
  source.close()
  expect(await next).toBeUndefined()
})

it('ends with its reader, also while it waits for the interval', async () => {
  const { read, change, source, watching } = feed()
  await read()
  change('a', 1)
  await read()
  change('a', 2)
  const next = read()
  await Promise.resolve()
  source.close()
  expect(await next).toBeUndefined()
  expect(watching()).toBe(false)
})
