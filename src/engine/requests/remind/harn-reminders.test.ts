/**
 * The reminder scenarios of the reference implementation (harn, conformance/tests/reminders), each under its name, as they
 * apply here. Providers have theirs in `providers/providers.test.ts`, wrong input in `protocols/a2a/methods/reminders.test.ts`,
 * rendering in `core/reminders/render-reminders.test.ts`, propagation in `harn-propagation.test.ts`. Not ours: the recap after a compaction, authority, lints, and the TTL that
 * a compaction takes.
 */
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../core/values/json.ts'
import type { ReminderRequest } from '../../input/requests.ts'
import {
  alice,
  createHarness,
  dataOf,
  effects,
  running,
  signal,
} from '../../test-support/engine-harness.ts'
import {
  ids,
  parkedTask,
  quiet,
  type RemindedTask,
  toldBy,
  turns,
} from '../../test-support/reminded-task.ts'

const nothing = async (): Promise<Json> => null

describe('injection and dedupe', () => {
  it('inject_basic: a body is enough', async () => {
    const { harness, id } = await parkedTask(nothing)
    const answer = await harness.engine.remind(alice, { taskId: id, reminder: { body: 'b' } })
    expect(answer).toMatchObject({ dedupedCount: 0, reminderId: expect.stringMatching(/./) })
    expect(await harness.engine.reminders(alice, id)).toMatchObject([{ body: 'b' }])
  })

  it('ttl_metadata: what is given is shown unchanged', async () => {
    const { harness, id, inject } = await parkedTask(nothing)
    const given = { ttlTurns: 5, preserveOnCompact: true, propagate: 'none' } as const
    await inject('r-1', given)
    expect(await harness.engine.reminders(alice, id)).toMatchObject([given])
  })

  it('inject_dedupe_replaces, dedupe_replace: the newest of a key is left, and no message is made of it', async () => {
    const { harness, id, inject, pending } = await parkedTask(nothing)
    await inject('r-1', { dedupeKey: 'k', ttlTurns: 1 })
    expect(
      await inject('r-2', { dedupeKey: 'k', ttlTurns: 7, roleHint: 'developer' }),
    ).toMatchObject({ dedupedCount: 1 })
    expect(await pending()).toEqual([['r-2', 7]])
    expect((await harness.get(id)).history).toHaveLength(1)
  })

  it('dedupe_event_log: the log names who displaced whom', async () => {
    const { inject, told } = await parkedTask(nothing)
    await inject('r-1', { dedupeKey: 'k' })
    await inject('r-2', { dedupeKey: 'k' })
    expect(await told()).toEqual(['injected r-1', 'deduped r-1 by r-2', 'injected r-2'])
  })
})

describe('TTL', () => {
  it('inject_ttl_expires: one turn, then gone', async () => {
    const { inject, resumed, told } = await parkedTask((task) => turns(task, 2))
    await inject('r-1', { ttlTurns: 1 })
    expect(await resumed()).toEqual([['r-1'], []])
    expect(await told()).toEqual(['injected r-1', 'emitted r-1 1', 'expired r-1 ttl'])
  })

  it('ttl_post_turn: one of two expires with the turn, the other has one turn left', async () => {
    const { inject, resumed, pending, harness, id } = await parkedTask(async (task) => {
      await turns(task, 1)
      await task.park({ reason: 'look' })
      return null
    })
    await inject('one', { ttlTurns: 1 })
    await inject('two', { ttlTurns: 2 })
    await harness.engine.resume(alice, { taskId: id })
    await harness.until(id, (task) => task.suspension?.reason === 'look')
    expect(await pending()).toEqual([['two', 1]])
    await resumed()
  })

  it('propagate_session_within_session: two turns of five are taken off, and the rest is left', async () => {
    const { inject, harness, id, pending } = await parkedTask(async (task) => {
      await turns(task, 2)
      await task.park({ reason: 'look' })
      return null
    })
    await inject('r-1', { ttlTurns: 5 })
    await harness.engine.resume(alice, { taskId: id })
    await harness.until(id, (task) => task.suspension?.reason === 'look')
    expect(await pending()).toEqual([['r-1', 3]])
  })

  it('is not consumed while the task is parked, within a turn or between turns', async () => {
    const { inject, harness, id, pending, resumed } = await parkedTask(async (task) => {
      await task.turn(() => task.park({ reason: 'within' }))
      await task.park({ reason: 'between' })
      return turns(task, 2)
    })
    await inject('r-1', { ttlTurns: 2 })
    for (const [reason, left] of [
      ['within', 2],
      ['between', 1],
    ] as const) {
      await harness.engine.resume(alice, { taskId: id })
      await harness.until(id, (task) => task.suspension?.reason === reason)
      await harness.pass(3_600_000)
      expect(await pending()).toEqual([['r-1', left]])
    }
    expect(await resumed()).toEqual([['r-1'], []])
  })

  it('is not consumed while the task is paused in the middle of a turn', async () => {
    const begun = signal()
    const go = signal()
    const { inject, harness, id, pending } = await parkedTask(async (task) => {
      await task.turn((turn) =>
        turn.tool('wait', async () => {
          begun.fire()
          await go.promise
        }),
      )
      return turns(task, 2)
    })
    await inject('r-1', { ttlTurns: 2 })
    await harness.engine.resume(alice, { taskId: id })
    await begun.promise
    const pausing = harness.engine.pause(alice, { taskId: id })
    await harness.settled()
    go.fire()
    await pausing
    await harness.until(id, 'paused-by-client')
    await harness.pass(3_600_000)
    expect(await pending()).toEqual([['r-1', 2]])
    await harness.engine.resume(alice, { taskId: id })
    expect(dataOf(await harness.until(id, 'completed'), 'seen')).toEqual([['r-1'], []])
  })

  it('is not consumed by a turn whose batch was skipped', async () => {
    const { inject, harness, id, resumed } = await parkedTask(async (task) => {
      const seen: string[][] = []
      await task.turn(async (turn) => {
        seen.push(ids(turn))
        await task.park({ reason: 'before the batch' })
        await turn.tools([{ name: 'a', run: () => 1 }])
      })
      return [...seen, ...(await turns(task, 2))]
    })
    await inject('r-1', { ttlTurns: 1 })
    await harness.engine.resume(alice, { taskId: id })
    await harness.until(id, (task) => task.suspension?.reason === 'before the batch')
    await inject('stop', { mode: 'interrupt_immediate', ttlTurns: 1 })
    expect(await resumed()).toEqual([['r-1'], ['r-1', 'stop'], []])
  })
})

describe('clearing', () => {
  const filled = async (): Promise<RemindedTask> => {
    const reminded = await parkedTask(nothing)
    await reminded.inject('r-1')
    await reminded.inject('r-2', { tags: ['t'] })
    await reminded.inject('r-3', { dedupeKey: 'k' })
    return reminded
  }

  it.each([
    ['clear_by_id', { id: 'r-1' }, ['r-2', 'r-3']],
    ['clear_by_tag', { tag: 't' }, ['r-1', 'r-3']],
    ['clear_by_dedupe_key', { dedupeKey: 'k' }, ['r-1', 'r-2']],
  ])('%s: that one goes, the others stay', async (_, selector, left) => {
    const { harness, id, pending } = await filled()
    const cleared = await harness.engine.clearReminders(alice, { taskId: id, ...selector })
    expect(cleared).toEqual({ clearedCount: 1 })
    expect((await pending()).map(([one]) => one)).toEqual(left)
  })

  it('clear_by_tag_selectors: each selector in turn takes one, until none is left', async () => {
    const { harness, id, pending } = await filled()
    for (const selector of [{ id: 'r-1' }, { tag: 't' }, { dedupeKey: 'k' }]) {
      const cleared = await harness.engine.clearReminders(alice, { taskId: id, ...selector })
      expect(cleared).toEqual({ clearedCount: 1 })
    }
    expect(await pending()).toEqual([])
  })
})

describe('compaction', () => {
  it.each([2, 5])(
    'compact_preserve_truncate, compact_preserve_on_compact: the preserved one stays with its %i turns, the other is gone',
    async (ttlTurns) => {
      const { inject, resumed, told } = await parkedTask(async (task) => {
        await task.compact()
        return turns(task, ttlTurns + 1)
      })
      await inject('light', { ttlTurns })
      await inject('heavy', { ttlTurns, preserveOnCompact: true })
      const seen = await resumed()
      expect(seen).toEqual([...Array<string[]>(ttlTurns).fill(['heavy']), []])
      expect(await told()).toContain('expired light compaction')
    },
  )

  it('compact_preserve_custom: with a compactor of the agent’s own, which sees no reminders', async () => {
    const given: unknown[] = []
    const harness = await createHarness({
      agents: [
        running(
          async (task) => {
            await task.turn((turn) => turn.record('agent', 'said'))
            await task.park({ reason: 'x' })
            await task.compact()
            await task.artifact({ name: 'seen', data: await turns(task, 1) })
          },
          {
            ...quiet,
            compact: (transcript) => {
              given.push(...transcript.map(({ content }) => content))
              return []
            },
          },
        ),
      ],
    })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    for (const preserveOnCompact of [true, false]) {
      const reminder = { id: String(preserveOnCompact), body: 'b', preserveOnCompact }
      await harness.engine.remind(alice, { taskId: id, reminder })
    }
    await harness.engine.resume(alice, { taskId: id })
    expect(dataOf(await harness.until(id, 'completed'), 'seen')).toEqual([['true']])
    expect(given).toEqual([[{ text: 'go' }], 'said'])
  })

  it('happens by itself when the transcript is too long, and drops and tells the same', async () => {
    const harness = await createHarness({
      agents: [
        running(
          async (task) => {
            await task.park({ reason: 'x' })
            await task.turn((turn) => {
              for (let n = 0; n < 5; n++) turn.record('agent', n)
            })
            await task.artifact({ name: 'seen', data: await turns(task, 1) })
          },
          { ...quiet, transcriptLimit: 4 },
        ),
      ],
    })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    for (const preserveOnCompact of [true, false]) {
      const reminder = { id: String(preserveOnCompact), body: 'b', preserveOnCompact }
      await harness.engine.remind(alice, { taskId: id, reminder })
    }
    await harness.engine.resume(alice, { taskId: id })
    expect(dataOf(await harness.until(id, 'completed'), 'seen')).toEqual([['true']])
    expect(toldBy(await harness.log(id))).toContain('expired false compaction')
  })
})

describe('the lifecycle log', () => {
  it('lifecycle_event_log: inject, inject the same key, clear', async () => {
    const { inject, told, harness, id } = await parkedTask(nothing)
    await inject('r-1', { dedupeKey: 'k' })
    await inject('r-2', { dedupeKey: 'k' })
    await harness.engine.clearReminders(alice, { taskId: id, dedupeKey: 'k' })
    expect(await told()).toEqual([
      'injected r-1',
      'deduped r-1 by r-2',
      'injected r-2',
      'expired r-2 cleared',
    ])
  })
})

describe('seams', () => {
  /** A turn with a stop before its batch, a look after it, and a turn more. */
  async function dispatched(
    mode?: ReminderRequest['mode'],
  ): Promise<{ seen: Json | undefined; ran: readonly string[] }> {
    const ran = effects()
    const { inject, harness, id, resumed } = await parkedTask(async (task) => {
      const seen: Json[] = []
      await task.turn(async (turn) => {
        await task.park({ reason: 'before the batch' })
        const results = await turn.tools([{ name: 'handler', run: () => ran.note('handler') }])
        seen.push(results.map(({ status }) => status))
        seen.push(ids(turn))
      })
      return [...seen, ...(await turns(task, 1))]
    })
    await harness.engine.resume(alice, { taskId: id })
    await harness.until(id, (task) => task.suspension?.reason === 'before the batch')
    if (mode !== undefined) await inject('r-1', { mode })
    return { seen: await resumed(), ran: ran.list }
  }

  it('interrupt queued before dispatch: the handler runs zero times, its place is marked, the loop goes on', async () => {
    const { seen, ran } = await dispatched('interrupt_immediate')
    expect(seen).toEqual([['skipped'], ['r-1'], ['r-1']])
    expect(ran).toEqual([])
  })

  it('control without an injection: the handler runs once', async () => {
    expect(await dispatched()).toEqual({ seen: [['done'], [], []], ran: ['handler'] })
  })

  it('steer queued in the middle of a turn (finish_step): the tool runs once, then it is seen', async () => {
    const { seen, ran } = await dispatched('finish_step')
    expect(seen).toEqual([['done'], ['r-1'], ['r-1']])
    expect(ran).toEqual(['handler'])
  })

  it('wait_for_completion, which the reference shows to no model: the next turn sees it', async () => {
    const { seen, ran } = await dispatched('wait_for_completion')
    expect(seen).toEqual([['done'], [], ['r-1']])
    expect(ran).toEqual(['handler'])
  })
})
