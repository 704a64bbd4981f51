/** B1, B2: executor/backlog.ts. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isLullError } from '../../core/errors.ts'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import type { AgentTask } from '../author/agent-task.ts'
import {
  alice,
  createHarness,
  echo,
  effects,
  running,
  signal,
} from '../test-support/engine-harness.ts'

describe('the limit of an agent', () => {
  it('B1: lets so many of its tasks run at the same time, first come, first served', async () => {
    const order = effects()
    let now = 0
    let most = 0
    const agent = running(
      async (task) => {
        order.note(task.text)
        most = Math.max(most, ++now)
        await task.step('work', async () => {
          await new Promise((resolve) => setImmediate(resolve))
        })
        now--
      },
      { concurrency: 3 },
    )
    const harness = await createHarness({ agents: [agent] })
    const names = Array.from({ length: 40 }, (_, index) => `${index}`)
    const sent = await Promise.all(names.map((name) => harness.send(name)))
    for (const task of sent) await harness.until(task.id, 'completed')
    expect(most).toBe(3)
    expect(order.list).toEqual(names)
  })

  it('B1: does not start a new task before an older one that waits', async () => {
    const order = effects()
    const go = signal()
    const agent = running(
      async (task) => {
        order.note(task.text)
        await task.step('work', () => go.promise)
      },
      { concurrency: 1 },
    )
    const harness = await createHarness({ agents: [agent] })
    const waiting = await Promise.all(['a', 'b', 'c'].map((name) => harness.send(name)))
    await harness.settled()
    go.fire()
    const late: string[] = []
    for (let turn = 0; turn < 12; turn++) {
      late.push((await harness.send(`late ${turn}`)).id)
      await new Promise((resolve) => setImmediate(resolve))
    }
    for (const id of [...waiting.map((task) => task.id), ...late]) {
      await harness.until(id, 'completed')
    }
    expect(order.list.slice(0, 3)).toEqual(['a', 'b', 'c'])
    expect(order.list).toHaveLength(15)
  })

  it('N2: holds thousands of waiting tasks in the store, not in memory', async () => {
    const go = signal()
    const agent = running((task) => task.step('work', () => go.promise), { concurrency: 2 })
    const harness = await createHarness({ agents: [agent], options: { cachedTasks: 50 } })
    const sent = await Promise.all(
      Array.from({ length: 3_000 }, (_, index) => harness.send(`${index}`)),
    )
    const { runs } = await harness.engine.health()
    expect(runs).toEqual({ live: 2, warm: 0, busy: 2 })
    expect(await harness.store.count({ states: ['submitted'] })).toBe(2_998)
    go.fire()
    for (const task of sent) await harness.until(task.id, 'completed')
  })

  it('B2: is freed by every end or stop of a run, and by a launch that lost a race', async () => {
    const act = fc.constantFrom('pause', 'resume', 'cancel', 'hold', 'lift', 'answer', 'event')
    const root = { tenant: '*', principal: 'root', operator: true }
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(act, { maxLength: 4 }), { maxLength: 6 }),
        async (acts) => {
          const agent = running(
            async (task) => {
              await task.step('one', () => undefined)
              await task.park({ reason: 'x', onEvent: 'go' })
              await task.ask('?')
            },
            { concurrency: 2 },
          )
          const harness = await createHarness({ agents: [agent] })
          const tasks = await Promise.all(['a', 'b', 'c', 'd'].map((name) => harness.send(name)))
          const { engine } = harness
          const doing: Record<string, (taskId: string) => Promise<unknown>> = {
            pause: (taskId) => engine.pause(alice, { taskId, graceMs: 0 }),
            resume: (taskId) => engine.resume(alice, { taskId }),
            cancel: (taskId) => engine.cancel(alice, { taskId }),
            hold: () => engine.hold(root, { scope: { all: true }, reason: 'x' }),
            lift: async () => {
              for (const { id } of await engine.holds(root)) await engine.lift(root, id)
            },
            answer: (taskId) => harness.tell(taskId, 'yes'),
            event: () => harness.emit('go'),
          }
          for (const [index, together] of acts.entries()) {
            const { id } = tasks[index % tasks.length] ?? { id: '' }
            const tried = await Promise.allSettled(together.map((what) => doing[what]?.(id)))
            for (const one of tried) {
              if (one.status === 'rejected' && !isLullError(one.reason)) throw one.reason
            }
          }
          await doing['lift']?.('')
          for (const { id } of tasks) {
            await engine.resume(alice, { taskId: id }).catch(() => undefined)
          }
          await harness.settled()
          const health = await engine.health()
          const working = await harness.store.count({ states: ['working'] })
          expect(working).toBe(0)
          expect(health.runs.busy).toBe(0)
          for (const { id } of tasks)
            await engine.cancel(alice, { taskId: id }).catch(() => undefined)
          await harness.settled()
          expect((await engine.health()).runs).toEqual({ live: 0, warm: 0, busy: 0 })
        },
      ),
      { numRuns: 60 },
    )
  })
})

describe('an agent that misbehaves', () => {
  const bad: readonly [string, (task: AgentTask) => unknown, string][] = [
    ['throws at once', () => Promise.reject(new Error('boom')), 'failed'],
    [
      'throws in its synchronous part',
      () => {
        throw new Error('boom')
      },
      'failed',
    ],
    ['throws what is no error', () => Promise.reject('boom'), 'failed'],
    ['hangs', () => new Promise(() => undefined), 'working'],
    ['returns what is no outcome', () => 42, 'failed'],
    ['returns parts that are none', () => [{ nothing: true }], 'failed'],
    [
      'lets a failing step float',
      (task) => {
        task.step('floating', () => Promise.reject(new Error('boom')))
        return task.step('next', () => undefined)
      },
      'completed',
    ],
    [
      'lets everything float that can fail',
      async (task) => {
        task.turn(() => Promise.reject(new Error('boom')))
        task.delegate('nobody', 'x')
        task.artifactStream('s').write({ wrong: 1 } as never)
        task.pickArtifact('x')
        task.compact()
        await task.step('next', () => undefined)
      },
      'completed',
    ],
    [
      'goes on after its task ended',
      (task) => {
        setImmediate(() => {
          task.step('late', () => undefined)
          task.say('late')
          task.park({ reason: 'late' })
        })
      },
      'completed',
    ],
  ]

  it.each(bad)('%s: its own task alone suffers', async (_name, run, state) => {
    const harness = await createHarness({ agents: [echo, running(run as never)] })
    const { id } = await harness.send('x', { agent: 'worker' })
    await harness.settled()
    expect((await harness.get(id)).state).toBe(state)
    const other = await harness.send('hello')
    expect((await harness.until(other.id, 'completed')).statusMessage?.parts).toEqual([
      { text: 'hello' },
    ])
  })

  it('tells its caller the message, never the stack', async () => {
    const harness = await createHarness({
      agents: [running(() => Promise.reject(new Error('disk is full')))],
    })
    const { id } = await harness.send('x')
    const task = await harness.until(id, 'failed')
    expect(task.statusMessage?.parts).toEqual([{ text: 'disk is full' }])
    expect(JSON.stringify(task.statusMessage)).not.toContain('runs.test')
    expect(task.failure?.stack).toContain('runs.test')
  })

  it('is named in the log when it blocks the event loop, and no other agent is', async () => {
    const harness = await createHarness({
      agents: [
        running(
          async (task) => {
            await task.step('quick', () => undefined)
            harness.clock.advance(400)
          },
          { name: 'hog' },
        ),
        running(
          async (task) => {
            await task.step('heavy', () => harness.clock.advance(300))
          },
          { name: 'heavy' },
        ),
        echo,
      ],
    })
    const tasks = await Promise.all(
      ['hog', 'heavy', 'echo', 'echo'].map((agent) => harness.send('x', { agent })),
    )
    for (const { id } of tasks) await harness.until(id, 'completed')
    await harness.settled()
    const { blocked } = await harness.engine.health()
    expect([...new Set(blocked.map((one) => one.agent))].sort()).toEqual(['heavy', 'hog'])
    expect(blocked.find((one) => one.agent === 'hog')).toMatchObject({ taskId: tasks[0]?.id })
  })
})

it('a machine that slept while a step ran names no agent that blocked it', async () => {
  const asleep = signal()
  const harness = await createHarness({
    agents: [running((task) => task.step('long', () => asleep.promise))],
  })
  const { id } = await harness.send('x')
  await harness.settled()
  harness.clock.sleep(3_600_000)
  await harness.pass(1_000)
  asleep.fire()
  await harness.until(id, 'completed')
  expect((await harness.engine.health()).blocked).toEqual([])
})

describe('a task that was taken over by another process', () => {
  // N1 of runs.ts, R3 of run/operation-runner.ts.
  it('N1, R3: is written to by the new run alone: the stale one writes nothing and gives its slot back', async () => {
    const store = createMemoryStore()
    const done = effects()
    const gates = [signal(), signal()]
    let runs = 0
    const agent = running(async (task) => {
      const mine = gates[runs++]
      await task.step('one', async () => {
        done.note('one')
        await mine?.promise
      })
      await task.step('two', () => done.note('two'))
    })
    const first = await createHarness({ agents: [agent], store })
    const { id } = await first.send('go')
    await first.settled()
    // The second process believes the first one dead; it is only slow.
    const second = await createHarness({
      agents: [agent],
      store,
      clock: first.clock,
      ids: { uuid: () => `second-${Math.random()}`, random: Math.random },
    })
    await second.settled()
    gates[0]?.fire()
    await first.settled()
    expect(done.list).toEqual(['one', 'one'])
    expect((await first.engine.health()).runs).toEqual({ live: 0, warm: 0, busy: 0 })
    gates[1]?.fire()
    await second.until(id, 'completed')
    expect(done.list).toEqual(['one', 'one', 'two'])
    const steps = (await second.log(id)).filter((record) => record.type === 'step')
    expect(steps).toHaveLength(2)
  })
})

describe('a run that cannot be built', () => {
  it('is tried again until its task has been stopped, and no longer', async () => {
    const inner = createMemoryStore()
    let broken = false
    const store = {
      ...inner,
      records: async (...asked: Parameters<typeof inner.records>) => {
        if (broken) throw new Error('the disk is on fire')
        return inner.records(...asked)
      },
    }
    const agent = running(
      async (task) => {
        if (task.text === 'patient') await task.park({ reason: 'until go' })
      },
      { concurrency: 1 },
    )
    const first = await createHarness({ agents: [agent], store })
    const patient = await first.send('patient')
    await first.until(patient.id, 'paused-by-agent')
    const harness = await first.restart()
    broken = true
    await harness.engine.resume(alice, { taskId: patient.id })
    const other = await harness.send('other')
    const failures = (): number =>
      harness.said.filter(({ text }) => text.includes('could not be built')).length
    for (let tries = 1; tries <= 3; tries++) {
      await harness.settled()
      expect(failures()).toBe(tries)
      expect((await harness.get(other.id)).state).toBe('submitted')
      await harness.pass(1_000)
    }
    await harness.engine.cancel(alice, { taskId: patient.id })
    const before = failures()
    await harness.pass(3_000)
    expect(failures()).toBe(before)
    await harness.until(other.id, 'completed')
  })
})
