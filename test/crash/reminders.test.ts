/** What was answered to whoever injects a reminder holds across deaths, and what a provider wanted it wants once. */
import { afterEach, describe, expect, it } from 'vitest'
import type { LogRecord } from '../../src/core/records.ts'
import { isTerminal } from '../../src/core/states.ts'
import type { Task } from '../../src/core/task.ts'
import type { ScriptOp } from '../../src/testing/script-agent/ops.ts'
import { onPostgres } from '../support/test-store.ts'
import { Died, killAll, type Worker } from '../support/worker-process.ts'
import { createHarness, type Harness } from './harness.ts'

afterEach(killAll)

const look: ScriptOp = { turn: [{ tool: 'look' }, { echo: 'reminders' }] }
const park: ScriptOp = { park: { reason: 'waiting' } }
const pressed: ScriptOp = { usage: { inputTokens: 80, contextWindow: 100 } }
const reminder = { id: 'r-1', body: 'Rebase first.', ttlTurns: 2 }

/** The tags or ids of what each look saw. */
function seenBy({ artifacts }: Task): readonly (readonly string[])[] {
  return artifacts.map(({ parts: [part] }) => {
    const shown = (part !== undefined && 'data' in part ? part.data : []) as unknown
    return (shown as { id: string; tags: readonly string[] }[]).map(({ id, tags }) => tags[0] ?? id)
  })
}

async function logOf(worker: Worker, taskId: string): Promise<readonly LogRecord[]> {
  const { version } = await worker.call('get', taskId)
  const log: LogRecord[] = []
  const whole = new Promise<void>((resolve) => {
    worker.listen((news) => {
      if (news.kind !== 'record') return
      log.push(news.record)
      if (news.record.seq === version) resolve()
    })
  })
  await worker.call('watch', taskId, 0)
  await whole
  return log
}

describe('a death between the answer to an injection and the turn that shows it', () => {
  it('changes nothing: it is shown in exactly its turns', async () => {
    const harness = await createHarness()
    const taskId = await harness.run(park, look, look, look)
    await harness.reached(taskId, 'paused-by-agent')
    const answer = await harness.worker().call('remind', { taskId, reminder })
    await harness.restart()
    expect(await harness.worker().call('remind', { taskId, reminder })).toEqual(answer)
    await harness.worker().call('resume', { taskId })
    const task = await harness.ended(taskId)
    expect(seenBy(task)).toEqual([['r-1', 'continuity'], ['r-1'], []])
  })

  it('nor in the middle of a turn, where it is seen by whoever runs it next', async () => {
    const harness = await createHarness()
    const began = harness.begins('long')
    const turn = { turn: [{ tool: 'long', ms: 300 }, { echo: 'reminders' }] } as const
    const taskId = await harness.run(turn, look, look)
    await began
    await harness.worker().call('remind', { taskId, reminder })
    await harness.restart()
    expect(seenBy(await harness.ended(taskId))).toEqual([['r-1'], ['r-1'], []])
  })
})

describe('a death at every record', () => {
  /** One life after the other, each with what the one before was not answered. */
  async function through(
    harness: Harness,
    taskId: string,
    kill: { moment: 'after' | 'before'; nth: number },
  ): Promise<number> {
    let lives = 0
    let answered = false
    for (;;) {
      const worker = await harness.restart({ kill: { ...kill, of: 'progress' } }).catch(isDeath)
      lives++
      if (worker === undefined) continue
      try {
        if (!answered) await worker.call('remind', { taskId, reminder })
        answered = true
        const { state } = await worker.call('get', taskId)
        if (isTerminal(state)) return lives
        if (state === 'paused-by-agent') await worker.call('resume', { taskId })
        await harness.ended(taskId)
        return lives
      } catch (error) {
        isDeath(error)
      }
    }
  }

  function isDeath(error: unknown): undefined {
    if (!(error instanceof Died)) throw error
  }

  const kills = [
    { moment: 'after', nth: 1 },
    { moment: 'before', nth: 2 },
  ] as const
  // On PostgreSQL every death takes as long as a lease.
  it.each(onPostgres ? kills.slice(0, 1) : kills)(
    '$moment it was durable shows, expires and tells the same',
    async (kill) => {
      const harness = await createHarness()
      const taskId = await harness.run(park, pressed, look, look, look)
      await harness.reached(taskId, 'paused-by-agent')
      expect(await through(harness, taskId, kill)).toBeGreaterThan(8)
      const worker = await harness.restart()
      const log = await logOf(worker, taskId)
      const injected = log.flatMap((one) =>
        one.type === 'reminder-injected' ? [one.reminder] : [],
      )
      expect(injected.map(({ id, tags }) => tags[0] ?? id)).toEqual([
        'r-1',
        'token-pressure',
        'continuity',
      ])
      const emitted = log.flatMap((one) => ('emitted' in one ? one.emitted : []))
      expect([...emitted].sort()).toEqual(injected.map(({ id }) => id).sort())
      const expired = log.flatMap((one) => (one.type === 'reminder-expired' ? one.ids : []))
      expect([...expired].sort()).toEqual([...emitted].sort())
      expect(seenBy(await worker.call('get', taskId))).toEqual([
        ['r-1', 'token-pressure', 'continuity'],
        ['r-1', 'token-pressure'],
        [],
      ])
    },
  )
})
