/** Exactly one winner, whatever is asked of the same task at the same time. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isLullError } from '../../core/errors.ts'
import { evolve } from '../../core/evolve.ts'
import { canMove, isTerminal, type State } from '../../core/states.ts'
import type { Task } from '../../core/task.ts'
import type { EngineOptions } from '../options.ts'
import {
  alice,
  createHarness,
  effects,
  type Harness,
  running,
} from '../test-support/engine-harness.ts'

const kind = fc.constantFrom('resume', 'pause', 'cancel', 'event', 'due', 'finish', 'message')
type Kind = 'resume' | 'pause' | 'cancel' | 'event' | 'due' | 'finish' | 'message'

async function attempt(harness: Harness, taskId: string, what: Kind): Promise<unknown> {
  const { engine } = harness
  if (what === 'resume') return engine.resume(alice, { taskId })
  if (what === 'pause') return engine.pause(alice, { taskId, graceMs: 0 })
  if (what === 'cancel') return engine.cancel(alice, { taskId })
  if (what === 'event') return harness.emit('go')
  if (what === 'message') return harness.tell(taskId, 'hello')
  if (what === 'due') harness.clock.advance(60_000)
  return undefined
}

const settings: readonly [string, Partial<EngineOptions>][] = [
  ['warm', {}],
  ['cold', { warmForMs: 0, cachedTasks: 1 }],
]

describe.each(settings)('concurrent calls on one %s task', (_name, options) => {
  it('have one winner each: the log is legal, and every answer agrees with it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(kind, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 5 }),
        async (rounds) => {
          const done = effects()
          let finish: () => void = () => undefined
          const agent = running(async (task) => {
            for (;;) {
              const timeout = { durationMinutes: 1 }
              await task.park({ reason: 'next', onEvent: 'go', timeout, since: 'now' })
              const end = await task.step('work', async () => {
                done.note('work')
                return new Promise<boolean>((resolve) => {
                  finish = () => resolve(true)
                  setImmediate(() => resolve(false))
                })
              })
              if (end) return
            }
          })
          const harness = await createHarness({ agents: [agent], options })
          const { id } = await harness.send('go')
          await harness.until(id, 'paused-by-agent')
          for (const round of rounds) {
            const before = await harness.log(id)
            const tried = await Promise.allSettled(
              round.map((what) => {
                if (what === 'finish') finish()
                return attempt(harness, id, what as Kind)
              }),
            )
            for (const one of tried) {
              if (one.status === 'rejected' && !isLullError(one.reason)) throw one.reason
            }
            await harness.settled()
            const fresh = (await harness.log(id)).slice(before.length)
            const cancels = tried.filter((_, index) => round[index] === 'cancel')
            const won = cancels.filter((one) => one.status === 'fulfilled').length
            expect(fresh.filter((record) => record.type === 'canceled')).toHaveLength(won)
            const resumes = tried.filter(
              (one, index) => round[index] === 'resume' && one.status === 'fulfilled',
            )
            const explicit = fresh.filter(
              (record) =>
                (record.type === 'resumed' || record.type === 'pause-withdrawn') &&
                record.cause === 'explicit_resume',
            )
            expect(explicit).toHaveLength(resumes.length)
          }
          await checkLog(harness, id)
          const works = (await harness.log(id)).filter((record) => record.type === 'step')
          // A run that was cancelled in the middle of a step leaves no record of it.
          expect(done.count('work')).toBeGreaterThanOrEqual(works.length)
          expect(done.count('work')).toBeLessThanOrEqual(works.length + 1)
          expect((await harness.engine.verify(alice, id)).faults).toEqual([])
        },
      ),
      { numRuns: 60 },
    )
  })
})

/** Every record follows from the one before it, and every suspension ended at most once. */
async function checkLog(harness: Harness, taskId: string): Promise<void> {
  let task: Task | undefined
  const ended = new Map<string, number>()
  for (const record of await harness.log(taskId)) {
    const from: State | undefined = task?.state
    task = evolve(task, record)
    if (from !== undefined && from !== task.state) expect(canMove(from, task.state)).toBe(true)
    if (from !== undefined) expect(isTerminal(from)).toBe(false)
    if (record.type === 'resumed' || record.type === 'pause-withdrawn') {
      ended.set(record.handle, (ended.get(record.handle) ?? 0) + 1)
    }
  }
  for (const times of ended.values()) expect(times).toBe(1)
}
