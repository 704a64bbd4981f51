/** Providers on a running task. The built-in ones are named as in the scenarios they answer to (harn, `reminder_provider_*`). */
import { describe, expect, it } from 'vitest'
import type { LogRecord } from '../../../core/records.ts'
import type { Reminder } from '../../../core/reminders/reminders.ts'
import type { Json } from '../../../core/values/json.ts'
import { createHarnessThatCrashes } from '../../test-support/crash-at-record.ts'
import {
  alice,
  createHarness,
  dataOf,
  type Harness,
  running,
  signal,
} from '../../test-support/engine-harness.ts'
import { type AgentDefinition, agent } from '../agent.ts'
import type { AgentTask } from '../agent-task.ts'
import { idle, tokenPressure, toolOutputTruncated } from './built-in.ts'
import type { ReminderProvider } from './provider.ts'

type Run = NonNullable<AgentDefinition['run']>

/** The task once it has ended, its log, and what of it is about reminders. */
async function ran(
  run: Run,
  providers: NonNullable<AgentDefinition['providers']> = {},
  some: Partial<AgentDefinition> = {},
): Promise<{ harness: Harness; id: string; log: readonly LogRecord[] }> {
  const harness = await createHarness({ agents: [running(run, { providers, ...some })] })
  const { id } = await harness.send('go')
  await harness.until(id, 'completed')
  return { harness, id, log: await harness.log(id) }
}

const injections = (log: readonly LogRecord[]): readonly Reminder[] =>
  log.flatMap((record) => (record.type === 'reminder-injected' ? [record.reminder] : []))
const shownBy = (log: readonly LogRecord[]): readonly (readonly string[])[] =>
  log.flatMap((record) =>
    record.type === 'turn-started' ? [record.reminders.map(({ body }) => body)] : [],
  )
const turns = async (task: AgentTask, count: number): Promise<void> => {
  for (let n = 0; n < count; n++) await task.turn(() => undefined)
}

describe('token pressure', () => {
  const used = (task: AgentTask, inputTokens: number): Promise<void> =>
    task.usage({ inputTokens, contextWindow: 100 })

  it('provider_agent_loop_defaults: 80 of 100 tokens is one reminder, and none where it is off', async () => {
    const run: Run = async (task) => {
      await used(task, 80)
      await turns(task, 1)
    }
    const { log } = await ran(run)
    expect(shownBy(log)).toEqual([[expect.stringMatching(/^80 percent of the context window/)]])
    expect(injections((await ran(run, { tokenPressure: false })).log)).toEqual([])
  })

  it('provider_token_pressure: 75 then 96 of 100 displaces the first, and only the second survives a compaction', async () => {
    const { log } = await ran(async (task) => {
      await used(task, 75)
      await used(task, 96)
      await task.compact()
      await turns(task, 3)
    })
    const [caution, critical] = injections(log)
    expect(caution).toMatchObject({
      tags: ['token-pressure', 'caution'],
      ttlTurns: 2,
      preserveOnCompact: false,
      propagate: 'session',
      roleHint: 'developer',
    })
    expect(critical).toMatchObject({
      tags: ['token-pressure', 'critical'],
      preserveOnCompact: true,
    })
    const deduped = log.find((record) => record.type === 'reminder-deduped')
    expect(deduped).toMatchObject({ ids: [caution?.id], by: critical?.id })
    expect(shownBy(log).map((bodies) => bodies.length)).toEqual([1, 1, 0])
  })

  it('says nothing again while it is pending at the same level, and again once it is gone', async () => {
    const { log } = await ran(async (task) => {
      for (const tokens of [70, 71, 84, 85, 94, 95]) await used(task, tokens)
      await turns(task, 2)
      await used(task, 99)
    })
    expect(injections(log).map(({ tags }) => tags[1])).toEqual([
      'caution',
      'warning',
      'critical',
      'critical',
    ])
  })

  it('counts what a call put in and got out, against the window it is told of', async () => {
    const run: Run = (task) => task.usage({ inputTokens: 600, outputTokens: 200 })
    expect(injections((await ran(run)).log)).toEqual([])
    const told = { tokenPressure: tokenPressure({ window: 1_000 }) }
    expect(injections((await ran(run, told)).log)).toHaveLength(1)
    const roomy = { tokenPressure: tokenPressure({ window: 10_000 }) }
    expect(injections((await ran(run, roomy)).log)).toEqual([])
  })
})

describe('truncated output', () => {
  const read: Run = async (task) => {
    await task.turn(async (turn) => {
      await turn.tool('read', () => ({ truncated: true, text: 'the beginning' }))
      await turn.tools([
        { name: 'list', run: () => ({ truncated: true }) },
        { name: 'whole', run: () => ({ truncated: false }) },
        { name: 'text', run: () => 'truncated' },
        { name: 'nothing', run: () => undefined },
      ])
    })
    await turns(task, 2)
  }

  it('provider_tool_output_truncated: one for each tool, seen by the next turn alone, none where it is off', async () => {
    const { log } = await ran(read)
    expect(injections(log)).toMatchObject(
      [
        { tags: ['truncation'], propagate: 'none', ttlTurns: 1, body: /"read"/ },
        { tags: ['truncation'], propagate: 'none', ttlTurns: 1, body: /"list"/ },
      ].map((one) => ({ ...one, body: expect.stringMatching(one.body) })),
    )
    expect(shownBy(log).map((bodies) => bodies.length)).toEqual([0, 2, 0])
    expect(injections((await ran(read, { toolOutputTruncated: false })).log)).toEqual([])
  })

  it('is what the agent says it is', async () => {
    const isTruncated = (result: Json): boolean => result === 'truncated'
    const { log } = await ran(read, { toolOutputTruncated: toolOutputTruncated({ isTruncated }) })
    expect(injections(log).map(({ dedupeKey }) => dedupeKey)).toEqual([
      'provider:toolOutputTruncated:text',
    ])
  })
})

describe('idle', () => {
  /** Two turns with so much time before each in which nothing is recorded. */
  async function twice(
    ms: number,
    providers: NonNullable<AgentDefinition['providers']>,
  ): Promise<readonly LogRecord[]> {
    const go = [signal(), signal()]
    const run: Run = async (task) => {
      for (const { promise } of go) {
        await promise
        await task.turn(() => undefined)
      }
    }
    const harness = await createHarness({ agents: [running(run, { providers })] })
    const { id } = await harness.send('go')
    for (const { fire } of go) {
      await harness.pass(ms)
      fire()
      await harness.settled()
    }
    await harness.until(id, 'completed')
    return harness.log(id)
  }

  it('provider_idle_nudge: 65 seconds twice, at a threshold of 60, is one for each turn, gone with it', async () => {
    const log = await twice(65_000, {})
    expect(shownBy(log)).toEqual([
      [expect.stringContaining('for 65 seconds')],
      [expect.stringContaining('for 65 seconds')],
    ])
    expect(injections(log)[0]).toMatchObject({ ttlTurns: 1, propagate: 'none', tags: ['idle'] })
  })

  it('is silent below its threshold and where it is off', async () => {
    expect(injections(await twice(59_000, {}))).toEqual([])
    expect(injections(await twice(65_000, { idle: false }))).toEqual([])
    expect(injections(await twice(10_000, { idle: idle({ afterMs: 10_000 }) }))).toHaveLength(2)
  })

  it('does not count the time a task is stopped', async () => {
    const harness = await createHarness({
      agents: [
        running(
          async (task) => {
            await task.sleep(600_000)
            await turns(task, 1)
          },
          { providers: { resumed: false } },
        ),
      ],
    })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    await harness.pass(600_000)
    await harness.until(id, 'completed')
    expect(injections(await harness.log(id))).toEqual([])
  })
})

describe('resumed', () => {
  const stopping: Run = async (task) => {
    await turns(task, 1)
    await task.park({ reason: 'first' })
    await task.park({ reason: 'second' })
    await turns(task, 2)
  }

  async function resumedTwice(
    providers: NonNullable<AgentDefinition['providers']>,
    continueTranscript: boolean,
    some: Partial<AgentDefinition> = {},
  ): Promise<readonly LogRecord[]> {
    const harness = await createHarness({ agents: [running(stopping, { providers, ...some })] })
    const { id } = await harness.send('go')
    for (const input of [1, 2]) {
      const { suspension } = await harness.until(id, (task) => task.suspension?.epoch === input)
      await harness.engine.resume(alice, {
        taskId: id,
        handle: suspension?.handle ?? null,
        input,
        continueTranscript,
      })
    }
    await harness.until(id, 'completed')
    return harness.log(id)
  }

  it('provider_resume_continuity: two wakes before a turn are one reminder, of the second, and none where it is off', async () => {
    const [before, after, last] = shownBy(await resumedTwice({}, true))
    expect([before, last]).toEqual([[], []])
    expect(after).toEqual([expect.stringMatching(/after turn 1 .*\(second\).* given: 2$/)])
    expect(shownBy(await resumedTwice({ resumed: false }, true))).toEqual([[], [], []])
  })

  it('provider_resume_continuity: with the digest where the transcript does not go on', async () => {
    const log = await resumedTwice({}, false, { digest: () => 'the gist' })
    expect(shownBy(log)[1]).toEqual([
      expect.stringContaining('(second)'),
      expect.stringContaining('the gist'),
    ])
  })

  it('is one also where two turns start at the same time', async () => {
    const harness = await createHarness({
      agents: [
        running(async (task) => {
          await task.park({ reason: 'x' })
          await Promise.all([turns(task, 1), turns(task, 1)])
        }),
      ],
    })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    await harness.engine.resume(alice, { taskId: id })
    await harness.until(id, 'completed')
    expect(injections(await harness.log(id))).toHaveLength(1)
  })

  it('comes through where the limit of reminders is reached', async () => {
    const harness = await createHarness({
      agents: [
        running(async (task) => {
          await task.park({ reason: 'x' })
          await turns(task, 1)
        }),
      ],
      options: { pendingReminders: 1 },
    })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    await harness.engine.remind(alice, { taskId: id, reminder: { body: 'full' } })
    await harness.engine.resume(alice, { taskId: id })
    await harness.until(id, 'completed')
    expect(shownBy(await harness.log(id))).toEqual([['full', expect.stringContaining('stopped')]])
  })
})

describe('a provider of one’s own', () => {
  it('provider_user_defined: sees every moment, and what it wants displaces what it wanted before', async () => {
    const seen: string[] = []
    const watcher: ReminderProvider = (moment, task) => {
      seen.push(`${moment.type} ${task.turn}`)
      return moment.type === 'turn-ended' && { body: `turn ${moment.turn} is over`, ttlTurns: 5 }
    }
    const { log } = await ran(
      async (task) => {
        await task.turn((turn) => turn.tool('look', () => 1))
        await turns(task, 1)
        await task.say('done')
      },
      { watcher },
    )
    expect(seen).toEqual([
      'turn-starting 0',
      'step 1',
      'turn-ended 1',
      'turn-starting 1',
      'turn-ended 2',
      'said 2',
    ])
    expect(shownBy(log)).toEqual([[], ['turn 1 is over']])
    expect(injections(log)).toMatchObject([
      { source: 'watcher', dedupeKey: 'provider:watcher', ttlTurns: 5 },
      { body: 'turn 2 is over' },
    ])
    expect(log.find((record) => record.type === 'reminder-injected')).toMatchObject({
      provider: 'watcher',
    })
    expect(log.filter((record) => record.type === 'reminder-deduped')).toHaveLength(1)
  })

  const broken: readonly (readonly [string, ReminderProvider])[] = [
    [
      'throws',
      () => {
        throw new Error('oops')
      },
    ],
    ['wants something without a body', () => ({}) as never],
    ['wants something unknown', () => ({ body: 'x', colour: 'red' }) as never],
    ['gives a promise', (() => Promise.resolve({ body: 'x' })) as never],
    ['gives a promise that is rejected', (() => Promise.reject(new Error('oops'))) as never],
  ]

  it.each(broken)(
    'provider_malformed_spec: that %s is told to operators, and the task goes on',
    async (_, watcher) => {
      const { harness, log } = await ran((task) => turns(task, 1), { watcher })
      expect(injections(log)).toEqual([])
      expect(harness.said).toContainEqual({
        level: 'error',
        text: 'a reminder provider failed',
        facts: expect.objectContaining({ provider: 'watcher', agent: 'worker' }),
      })
    },
  )

  it('cannot fill a task with reminders beyond its limit', async () => {
    const watcher: ReminderProvider = () =>
      Array.from({ length: 100 }, (_, n) => ({ body: 'x', dedupeKey: `k-${n}` }))
    const { log, harness } = await ran((task) => turns(task, 1), { watcher })
    expect(shownBy(log).map((bodies) => bodies.length)).toEqual([64])
    const leftOut = harness.said.filter(({ text }) => text.includes('was left out'))
    // When the turn started, and when it ended.
    expect(leftOut).toHaveLength(2 * (100 - 64))
    expect(leftOut[0]?.facts).toMatchObject({ provider: 'watcher', limit: 64 })
  })

  it('is checked when the agent is defined', () => {
    const define = (providers: object) => () =>
      agent({ name: 'a', description: 'a', run: () => undefined, providers: providers as never })
    for (const wrong of [{ own: true }, { own: 'x' }, { idle: 1 }, { idle: {} }]) {
      expect(define(wrong)).toThrow(/^providers\.(own|idle): must be a function or false/)
    }
    for (const right of [
      { idle: true },
      { idle: false },
      { own: false },
      { own: () => undefined },
    ]) {
      expect(define(right)).not.toThrow()
    }
  })

  it('is off, like the built-in ones, where the agent takes no reminders', async () => {
    const watcher: ReminderProvider = () => ({ body: 'x' })
    const run: Run = async (task) => {
      await task.usage({ inputTokens: 99, contextWindow: 100 })
      await turns(task, 1)
    }
    expect(injections((await ran(run, { watcher }, { reminders: false })).log)).toEqual([])
  })
})

describe('after a crash', () => {
  it('the same cause reminds once, wherever the process died', async () => {
    const run: Run = async (task) => {
      await task.usage({ inputTokens: 80, contextWindow: 100 })
      await task.turn((turn) => turn.tool('read', () => ({ truncated: true })))
      await task.turn(() => undefined)
      await task.artifact({ name: 'end', data: null })
    }
    const whole = await ran(run)
    const expected = injections(whole.log).map(({ body }) => body)
    expect(expected).toHaveLength(2)
    for (let nth = 1; nth < whole.log.length; nth++) {
      let written = 0
      const { harness, recover } = await createHarnessThatCrashes(
        { agents: [running(run)] },
        () => ++written === nth,
      )
      harness.send('go').catch(() => undefined)
      await harness.settled()
      const next = await recover()
      const id = (await next.engine.list(alice)).tasks[0]?.id ?? ''
      const done = await next.until(id, 'completed')
      expect(dataOf(done, 'end')).toBeNull()
      expect(injections(await next.log(id)).map(({ body }) => body)).toEqual(expected)
    }
  })
})
