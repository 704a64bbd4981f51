import { describe, expect, it } from 'vitest'
import type { Json } from '../../../core/values/json.ts'
import { Fatal, reject } from '../../author/agent.ts'
import type { AgentTask, StepContext } from '../../author/agent-task.ts'
import {
  alice,
  createHarness,
  dataOf,
  effects,
  running,
  signal,
} from '../../test-support/engine-harness.ts'
import { caught, keeping, resultOf } from '../test-support/results.ts'

describe('a step', () => {
  it('gives the JSON round trip of its result, the first time too', async () => {
    const bare = Object.assign(Object.create(null) as object, { a: 1 })
    const result = await resultOf((task) =>
      task.step('odd', () => ({ zero: -0, gone: undefined, bare })),
    )
    expect(JSON.stringify(result)).toBe('{"zero":0,"bare":{"a":1}}')
  })

  it.each<[string, () => unknown, string]>([
    ['a Date', () => ({ at: [new Date(0)] }), 'result.at.0 is an instance of Date'],
    ['a Map', () => new Map([[1, 2]]), 'result is an instance of Map'],
    ['a Set', () => ({ a: { b: new Set([1]) } }), 'result.a.b is an instance of Set'],
    ['an instance', () => [new (class Invoice {})()], 'result.0 is an instance of Invoice'],
    ['bytes', () => Buffer.from('a'), "buffer.toString('base64')"],
    ['NaN', () => ({ n: Number.NaN }), 'result.n is NaN'],
    ['Infinity', () => [Number.NEGATIVE_INFINITY], 'result.0 is -Infinity'],
    ['undefined in a list', () => [1, undefined], 'result.1 is undefined in a list'],
    ['a hole in a list', () => new Array(1), 'result.0 is undefined in a list'],
    ['a symbol', () => ({ s: Symbol('s') }), 'result.s is a symbol'],
    ['a method', () => ({ pay: () => 1 }), 'result.pay is a function'],
    ['a deep nest', () => deep(), 'is nested more than'],
  ])(
    'that returns %s fails with the path and what to return instead',
    async (_name, make, says) => {
      const error = await resultOf((task) => caught(task.step('bad', make)))
      expect(error).toMatchObject({ name: 'LullError', code: 'STEP_RESULT' })
      expect((error as { message: string }).message).toContain(says)
    },
  )

  it.each<[string, () => unknown, string]>([
    ['a function', () => () => 1, 'result is a function'],
    ['a cycle', () => cycle(), 'result.self is part of itself'],
    ['a bigint', () => 1n, 'result is a bigint'],
    ['more than the limit', () => 'x'.repeat(99), 'more than 100'],
    ['more bytes than the limit', () => 'ü'.repeat(60), 'more than 100'],
  ])('that returns %s fails with a clear error', async (_name, make, problem) => {
    const error = await resultOf((task) => caught(task.step('bad', make)))
    expect(error).toMatchObject({ name: 'LullError', code: 'STEP_RESULT' })
    expect((error as { message: string }).message).toContain(problem)
  })

  it('that fails throws the same, live and rebuilt', async () => {
    const seen: unknown[] = []
    const harness = await createHarness({
      options: { warmForMs: 0 },
      agents: [
        keeping(async (task) => {
          const fail = () => {
            throw Object.assign(new TypeError('no such file'), { code: 'ENOENT', errno: -2 })
          }
          const error = await task.step('read', fail).catch((thrown: unknown) => thrown)
          seen.push({ ...(error as object), message: (error as Error).message })
          await task.park({ reason: 'x' })
        }),
      ],
    })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    await harness.engine.resume(alice, { taskId: id })
    await harness.until(id, 'completed')
    expect(seen).toHaveLength(2)
    expect(seen[0]).toEqual(seen[1])
    expect(seen[0]).toMatchObject({ name: 'TypeError', code: 'ENOENT', message: 'no such file' })
  })

  it('is tried again with doubling pauses, each attempt recorded', async () => {
    const at: number[] = []
    const harness = await createHarness({
      agents: [
        running(async (task) => {
          const flaky = ({ attempt }: { attempt: number }) => {
            at.push(harness.clock.now())
            if (attempt < 4) throw new Error(`attempt ${attempt}`)
          }
          await task.step('flaky', flaky, { retry: { attempts: 3, backoffMs: 100 } })
        }),
      ],
    })
    const { id } = await harness.send('go')
    for (let n = 0; n < 8; n++) await harness.pass(100)
    await harness.until(id, 'completed')
    const [first = 0] = at
    expect(at.map((one) => one - first)).toEqual([0, 100, 300, 700])
    const attempts = (await harness.log(id)).filter((record) => record.type === 'attempt')
    expect(attempts.map(({ attempt, outcome }) => [attempt, outcome])).toEqual([
      [1, 'failed'],
      [2, 'failed'],
      [3, 'failed'],
    ])
  })

  it('waits by its factor between attempts, and never longer than the most', async () => {
    const at: number[] = []
    const retry = { attempts: 4, backoffMs: 100, factor: 3, maxBackoffMs: 500 }
    const harness = await createHarness({
      agents: [
        running(async (task) => {
          const fail = () => {
            at.push(harness.clock.now())
            throw new Error('no')
          }
          await task.step('bad', fail, { retry })
        }),
      ],
    })
    const { id } = await harness.send('go')
    for (let n = 0; n < 20; n++) await harness.pass(100)
    await harness.until(id, 'failed')
    expect(at.map((one, n) => one - (at[n - 1] ?? one))).toEqual([0, 100, 300, 500, 500])
  })

  it.each<[string, () => unknown]>([
    ['Fatal', () => throwing(new Fatal('no card'))],
    ['a kind of Fatal', () => throwing(new (class Declined extends Fatal {})('no card'))],
    ['a rejection', () => throwing(reject('no card'))],
    ['a result that cannot be stored', () => new Map()],
  ])('that ends with %s is not tried again', async (_name, end) => {
    const attempts: number[] = []
    await resultOf((task) => {
      const pay = ({ attempt }: StepContext): unknown => {
        attempts.push(attempt)
        return end()
      }
      return caught(task.step('pay', pay, { retry: { attempts: 3, backoffMs: 0 } }))
    })
    expect(attempts).toEqual([1])
  })

  it('refuses options it does not know, with their path', async () => {
    const retry = { attempts: 1, backoff: 5 }
    const error = await resultOf((task) => caught(task.step('a', () => 1, { retry })))
    expect(error).toMatchObject({ code: 'INVALID_INPUT' })
    expect((error as { message: string }).message).toContain('options.retry.backoff')
  })

  it('has an idempotency key for any header, of its own, whatever its name', async () => {
    const keys = (await resultOf((task) =>
      Promise.all(
        ['a', 'a', 'b\r\nX-Evil: 1', 'ü/🎉'.repeat(100)].map((name) =>
          task.step(name, ({ idempotencyKey }) => idempotencyKey),
        ),
      ),
    )) as string[]
    for (const key of keys) expect(key).toMatch(/^[0-9a-f]{1,32}$/)
    expect(new Set(keys).size).toBe(4)
  })

  it('is not tried again once its task is canceled', async () => {
    const attempts: number[] = []
    const harness = await createHarness({
      agents: [
        running((task) =>
          task.step(
            'pay',
            ({ attempt }) => {
              attempts.push(attempt)
              throw new Error('not now')
            },
            { retry: { attempts: 3, backoffMs: 100 } },
          ),
        ),
      ],
    })
    const { id } = await harness.send('go')
    await harness.settled()
    await harness.engine.cancel(alice, { taskId: id })
    for (let n = 0; n < 8; n++) await harness.pass(100)
    expect((await harness.get(id)).state).toBe('canceled')
    expect(attempts).toEqual([1])
  })

  it.each([0, 60_000])(
    'has as many retries when it was rebuilt in between (warm %i ms)',
    async (warmForMs) => {
      const attempts: number[] = []
      const harness = await createHarness({
        options: { warmForMs },
        agents: [
          running(async (task) => {
            const fail = ({ attempt }: { attempt: number }) => {
              attempts.push(attempt)
              throw new Error('always')
            }
            await task.step('bad', fail, { retry: { attempts: 2, backoffMs: 1_000 } })
          }),
        ],
      })
      const { id } = await harness.send('go')
      await harness.settled()
      await harness.engine.pause(alice, { taskId: id })
      await harness.engine.resume(alice, { taskId: id })
      for (let n = 0; n < 5; n++) await harness.pass(5_000)
      await harness.until(id, 'failed')
      expect(attempts).toEqual([1, 2, 3])
    },
  )

  it('that takes longer than its time fails, and its signal fires', async () => {
    const fired = effects()
    const error = await resultOf((task) =>
      caught(
        task.step(
          'slow',
          ({ signal: abort }) =>
            new Promise(() => abort.addEventListener('abort', () => fired.note('abort'))),
          { timeoutMs: 50 },
        ),
      ),
    )
    expect(error).toMatchObject({ code: 'STEP_TIMEOUT' })
    expect(fired.list).toEqual(['abort'])
  })

  it('holds no park, question or turn: they are refused, and the step fails', async () => {
    const calls: ((task: AgentTask) => Promise<unknown>)[] = [
      (task) => task.park({ reason: 'x' }),
      (task) => task.sleep(1),
      (task) => task.ask('?'),
      (task) => task.requireAuth('?'),
      (task) => task.requireConsent({ prompt: '?', operation: 1 }),
      (task) => task.turn(() => undefined),
      (task) => task.continueAs(1),
    ]
    for (const call of calls) {
      const error = await resultOf((task) => caught(task.step('outer', () => call(task) as never)))
      expect(error).toMatchObject({ code: 'INVALID_INPUT' })
    }
    const nested = await resultOf((task) => task.turn(() => caught(task.turn(() => undefined))))
    expect(nested).toMatchObject({ code: 'INVALID_INPUT' })
  })

  it('that is interrupted finds again what it did inside, and a retry does it anew', async () => {
    const done = effects()
    const waiting = signal()
    const harness = await createHarness({
      agents: [
        running(async (task) => {
          const run = async ({
            signal: abort,
            attempt,
          }: {
            signal: AbortSignal
            attempt: number
          }) => {
            await task.step('inner', () => done.note(`inner in attempt ${attempt}`))
            if (attempt === 1) {
              waiting.fire()
              await new Promise((_, fail) => abort.addEventListener('abort', fail))
            }
            if (attempt === 2) throw new Error('once')
          }
          await task.step('outer', run, { retry: { attempts: 1, backoffMs: 0 } })
        }),
      ],
    })
    const { id } = await harness.send('go')
    await waiting.promise
    await harness.engine.pause(alice, { taskId: id, mode: 'interrupt_immediate' })
    await harness.engine.resume(alice, { taskId: id })
    await harness.pass(1)
    await harness.until(id, 'completed')
    expect(done.list).toEqual(['inner in attempt 1', 'inner in attempt 3'])
  })

  it('under an explicit key is found by it, whatever it is called; a key serves once', async () => {
    const names = ['old name', 'new name']
    const done = effects()
    const harness = await createHarness({
      options: { warmForMs: 0 },
      agents: [
        keeping(async (task) => {
          const name = names.shift() ?? ''
          const first = await task.step(name, () => done.note(name) ?? 'first', { key: 'k' })
          await task.park({ reason: 'x' })
          const again = await caught(task.step('again', () => 'second', { key: 'k' }))
          return [first, again]
        }),
      ],
    })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    await harness.engine.resume(alice, { taskId: id })
    const result = dataOf(await harness.until(id, 'completed'), 'result') as Json[]
    expect(done.list).toEqual(['old name'])
    expect(result[0]).toBe('first')
    expect(result[1]).toMatchObject({ code: 'INVALID_INPUT' })
  })
})

function cycle(): object {
  const self: { self?: object } = {}
  self.self = self
  return self
}

function deep(): object {
  let nest: object = {}
  for (let level = 0; level < 10_000; level++) nest = { nest }
  return nest
}

function throwing(error: Error): never {
  throw error
}
