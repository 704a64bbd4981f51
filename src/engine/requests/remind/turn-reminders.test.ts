/** What the code of a turn sees of its reminders, live and rebuilt. */
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../core/values/json.ts'
import type { Turn } from '../../author/agent-task.ts'
import {
  alice,
  createHarness,
  dataOf,
  type Harness,
  running,
  signal,
} from '../../test-support/engine-harness.ts'

const ids = (turn: Turn): Json => turn.reminders.map(({ id }) => id)
const remind = (harness: Harness, taskId: string, id: string, some: object = {}) =>
  harness.engine.remind(alice, { taskId, reminder: { id, body: `body of ${id}`, ...some } })

describe('reading again', () => {
  it('shows at every place of a rebuilt run what it showed the first time', async () => {
    const begun = signal()
    let lives = 0
    const agents = [
      running((task) =>
        task.turn(async (turn) => {
          const life = ++lives
          const before = ids(turn)
          await turn.tool('one', () => 1)
          const between = ids(turn)
          await turn.tool('two', () => {
            begun.fire()
            return life === 1 ? new Promise(() => undefined) : 2
          })
          await task.artifact({ name: 'seen', data: [before, between, ids(turn)] })
        }),
      ),
    ]
    const harness = await createHarness({ agents })
    const { id } = await harness.send('go')
    await begun.promise
    await remind(harness, id, 'r-1')
    const next = await harness.recover()
    expect(dataOf(await next.until(id, 'completed'), 'seen')).toEqual([[], [], ['r-1']])
    expect(lives).toBe(2)
  })

  it('inside a step shows what was there when it began, and a rebuilt run, which does not run it again, misses nothing', async () => {
    const [begun, go, stuck] = [signal(), signal(), signal()]
    let lives = 0
    const agents = [
      running((task) =>
        task.turn(async (turn) => {
          lives++
          const inside = await turn.tool('reads', async () => {
            begun.fire()
            await go.promise
            return ids(turn)
          })
          const after = ids(turn)
          await turn.tool('stuck', () => {
            stuck.fire()
            return lives === 1 ? new Promise(() => undefined) : null
          })
          await task.artifact({ name: 'seen', data: [inside, after, ids(turn)] })
        }),
      ),
    ]
    const harness = await createHarness({ agents })
    const { id } = await harness.send('go')
    await begun.promise
    await remind(harness, id, 'r-1')
    go.fire()
    await stuck.promise
    const next = await harness.recover()
    expect(dataOf(await next.until(id, 'completed'), 'seen')).toEqual([[], ['r-1'], ['r-1']])
  })

  it('leaves out what was cleared or displaced meanwhile', async () => {
    const [begun, go] = [signal(), signal()]
    const harness = await createHarness({
      agents: [
        running(
          async (task) => {
            await task.park({ reason: 'x' })
            await task.turn(async (turn) => {
              const before = ids(turn)
              await turn.tool('wait', async () => {
                begun.fire()
                await go.promise
              })
              await task.artifact({ name: 'seen', data: [before, ids(turn)] })
            })
          },
          { providers: { resumed: false } },
        ),
      ],
    })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    await remind(harness, id, 'cleared')
    await remind(harness, id, 'old', { dedupeKey: 'k' })
    await harness.engine.resume(alice, { taskId: id })
    await begun.promise
    await harness.engine.clearReminders(alice, { taskId: id, id: 'cleared' })
    await remind(harness, id, 'new', { dedupeKey: 'k' })
    go.fire()
    const seen = dataOf(await harness.until(id, 'completed'), 'seen')
    expect(seen).toEqual([['cleared', 'old'], ['new']])
  })
})

describe('a reminder that interrupts', () => {
  it('skips no batch of a turn that has read it', async () => {
    const [begun, go] = [signal(), signal()]
    const harness = await createHarness({
      agents: [
        running((task) =>
          task.turn(async (turn) => {
            const wait = async (): Promise<void> => {
              begun.fire()
              await go.promise
            }
            const first = await turn.tools([
              { name: 'one', run: wait },
              { name: 'two', run: () => 2 },
            ])
            const read = ids(turn)
            const second = await turn.tools([{ name: 'three', run: () => 3 }])
            const how = [...first, ...second].map(({ name, status }) => `${name} ${status}`)
            await task.artifact({ name: 'seen', data: [read, how] })
          }),
        ),
      ],
    })
    const { id } = await harness.send('go')
    await begun.promise
    await remind(harness, id, 'r-1', { mode: 'interrupt_immediate' })
    go.fire()
    const seen = dataOf(await harness.until(id, 'completed'), 'seen')
    expect(seen).toEqual([['r-1'], ['one done', 'two skipped', 'three done']])
  })

  it('leaves the TTL of all reminders alone in the turn whose batch it cut short', async () => {
    const harness = await createHarness({
      agents: [
        running(async (task) => {
          const seen: Json[] = []
          for (let n = 0; n < 3; n++) {
            await task.turn(async (turn) => {
              seen.push(ids(turn))
              if (n > 0) return
              await task.ask('ready?')
              await turn.tools([{ name: 'one', run: () => 1 }])
            })
          }
          await task.artifact({ name: 'seen', data: seen })
        }),
      ],
    })
    const { id } = await harness.send('go')
    await harness.until(id, 'input-required')
    await remind(harness, id, 'r-1', { mode: 'interrupt_immediate', ttlTurns: 1 })
    await harness.tell(id, 'yes')
    const seen = dataOf(await harness.until(id, 'completed'), 'seen')
    expect(seen).toEqual([[], ['r-1'], []])
    const ended = (await harness.log(id)).flatMap((one) => (one.type === 'turn-ended' ? [one] : []))
    expect(ended.map(({ outcome }) => outcome ?? 'completed')).toEqual([
      'skipped',
      'completed',
      'completed',
    ])
  })
})

it('a turn that fails costs no TTL: the one that tries again sees the same', async () => {
  const harness = await createHarness({
    agents: [
      running(
        async (task) => {
          await task.park({ reason: 'x' })
          const seen: Json[] = []
          for (let n = 0; n < 3; n++) {
            const turn = task.turn((turn) => {
              seen.push(ids(turn))
              if (n === 0) throw new Error('the model is down')
            })
            await turn.catch(() => undefined)
          }
          await task.artifact({ name: 'seen', data: seen })
        },
        { providers: { resumed: false } },
      ),
    ],
  })
  const { id } = await harness.send('go')
  await harness.until(id, 'paused-by-agent')
  await remind(harness, id, 'r-1', { ttlTurns: 1 })
  await harness.engine.resume(alice, { taskId: id })
  const seen = dataOf(await harness.until(id, 'completed'), 'seen')
  expect(seen).toEqual([['r-1'], ['r-1'], []])
})

it('a turn that hands the task on with continueAs has ended: it costs, and is told', async () => {
  const harness = await createHarness({
    agents: [
      running(async (task) => {
        const seen = (task.state ?? []) as Json[]
        if (seen.length === 3) {
          await task.artifact({ name: 'seen', data: seen })
          return
        }
        await task.turn((turn) => task.continueAs([...seen, ids(turn)]))
      }),
    ],
  })
  const { id } = await harness.send('go', { reminders: [{ id: 'r-1', body: 'b', ttlTurns: 2 }] })
  const done = await harness.until(id, 'completed')
  expect(dataOf(done, 'seen')).toEqual([['r-1'], ['r-1'], []])
  expect((await harness.types(id)).filter((type) => type === 'turn-ended')).toHaveLength(3)
})
