/**
 * Runs a random program while its task is paused, evicted and rebuilt at random times, and compares what its runs saw.
 * Everything follows from the seed where the store answers in a time of its own choosing. For tests only.
 *
 *  O1  Whatever a run has seen, a run that is rebuilt later sees again, in the same order: results, winners and values.
 *  O2  Each payment is made once, to the winner that the last run sees.
 *  O3  The program comes to its end: its code has not changed, so nothing stops it for that.
 */
import { isLullError } from '../../../core/errors.ts'
import { isTerminal } from '../../../core/states.ts'
import { pauseModes } from '../../../core/suspension.ts'
import type { Task } from '../../../core/task.ts'
import type { IdSource } from '../../../ports/ids.ts'
import type { Store } from '../../../ports/store.ts'
import { createCountingIds } from '../../../testing/counting-ids.ts'
import { createManualClock } from '../../../testing/manual-clock.ts'
import { alice, createHarness, type Harness } from '../engine-harness.ts'
import { createRandom, type Random } from '../simulation/random.ts'
import { delaysOf, type Observed, observedProgram, randomProgram } from './program.ts'

const root = { tenant: '*', principal: 'root', operator: true }
const HOUR = 3_600_000

export interface Comparison {
  readonly seed: number
  readonly store: Store
  /** The clock of a store that has one of its own shows about this. */
  readonly startAt?: number
  /** Loop turns after which a task that does not move is stuck. */
  readonly patience: number
  /** How many loop turns a turn of the program and of what disturbs it takes. More for a store over a network. Default: 1. */
  readonly pace?: number
}

/** @throws Error when a check fails */
export async function compareRuns(comparison: Comparison): Promise<void> {
  const { seed, store, startAt, patience, pace = 1 } = comparison
  const random = createRandom(seed)
  const { agents, observed } = observedProgram(randomProgram(random), delaysOf(seed), pace)
  const clock = createManualClock(startAt)
  const options = { warmForMs: 0, leaseMs: HOUR, pollMs: HOUR }
  const harness = await createHarness({ agents, store, clock, options, ids: idsOf(seed) })
  try {
    if (random.chance(0.8)) {
      const scope = { tenant: alice.tenant }
      await harness.engine.setBudget(root, { scope, measure: 'tokens', limit: 1_000_000 })
    }
    const { id } = await harness.send('go', { agent: 'worker' })
    await disturb(harness, id, random, pace)
    const task = await finish(harness, id, random, patience)
    await harness.engine.drain()
    check(task, observed)
  } finally {
    harness.crash()
  }
}

/** Other ids for each seed, because programs may share a store. */
function idsOf(seed: number): IdSource {
  const { uuid, random } = createCountingIds()
  const prefix = seed.toString(16).padStart(8, '0')
  return { uuid: () => `${prefix}${uuid().slice(8)}`, random }
}

/** Pauses the task at random times, and resumes it. Each pause evicts it. */
async function disturb(
  harness: Harness,
  taskId: string,
  random: Random,
  pace: number,
): Promise<void> {
  for (let pauses = random.below(4); pauses > 0; pauses--) {
    await turns(harness, pace * random.below(80))
    const mode = random.pick(pauseModes) ?? 'finish_step'
    await harness.engine.pause(alice, { taskId, mode, graceMs: 0 }).catch(refused)
    await turns(harness, pace * random.below(40))
    await resume(harness, await harness.get(taskId), random)
  }
}

async function finish(
  harness: Harness,
  taskId: string,
  random: Random,
  patience: number,
): Promise<Task> {
  for (let waited = 0; waited < patience; waited += 10) {
    const task = await harness.get(taskId)
    if (isTerminal(task.state) || task.suspension?.actor.kind === 'policy') return task
    await resume(harness, task, random)
    await turns(harness, 10)
  }
  const log = await harness.types(taskId)
  throw new Error(`the task is stuck: ${log.join(' ')}`)
}

async function resume({ engine }: Harness, task: Task, random: Random): Promise<void> {
  const handle = task.suspension?.handle
  if (handle === undefined || task.suspension?.actor.kind === 'policy') return
  const continueTranscript = random.chance(0.5)
  await engine.resume(alice, { taskId: task.id, handle, continueTranscript }).catch(refused)
}

/** Retries of steps are due while turns pass. */
async function turns({ clock }: Harness, count: number): Promise<void> {
  for (let left = count; left > 0; left--) {
    await new Promise((resolve) => setImmediate(resolve))
    clock.advance(1)
  }
}

function refused(error: unknown): void {
  if (!isLullError(error)) throw error
}

function check(task: Task, { runs, paid }: Observed): void {
  if (task.state !== 'completed') {
    const why = task.failure?.message ?? task.suspension?.summary ?? ''
    throw new Error(`O3: the task is ${task.state}. ${why}`)
  }
  const last = runs.at(-1) ?? []
  for (const [index, seen] of runs.entries()) {
    const at = seen.findIndex((one, place) => one !== last[place])
    if (at < 0) continue
    const problem = `run ${index + 1} of ${runs.length} saw "${seen[at]}", the last one "${last[at]}"`
    throw new Error(`O1: at ${at + 1}: ${problem}`)
  }
  const winners = last.flatMap((one) => {
    const [place, op, winner] = one.split(' ')
    return op === 'race' ? [`${place} ${winner}`] : []
  })
  if (paid.toSorted().join() !== winners.toSorted().join()) {
    throw new Error(`O2: paid ${paid.join()}, but the winners are ${winners.join()}`)
  }
}

/** The seeds that fail, each with what was wrong. */
export async function failuresOf(
  seeds: Iterable<number>,
  compare: (seed: number) => Promise<void>,
): Promise<readonly string[]> {
  const failed: string[] = []
  for (const seed of seeds) {
    await compare(seed).catch((error: unknown) => {
      failed.push(`seed ${seed}: ${error instanceof Error ? error.message : String(error)}`)
    })
  }
  return failed
}

/** The seeds that `LULL_SIMULATE` asks for (`1..2000`), or those that failed once and the first ones. */
export function seedsOf(most: number, failedBefore: readonly number[] = []): Iterable<number> {
  const given = (process.env['LULL_SIMULATE'] ?? '').split('..').map(Number).filter(Boolean)
  const [from = 1, to = most] = given
  const seeds = Array.from({ length: to - from + 1 }, (_, index) => from + index)
  return given.length > 0 ? seeds : new Set([...failedBefore, ...seeds])
}
