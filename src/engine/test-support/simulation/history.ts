/** What one simulated history consists of: its processes, its tasks and what was asked of them. For tests only. */
import { isLullError } from '../../../core/errors.ts'
import type { Caller } from '../../caller.ts'
import type { Schedule } from '../../wakes/schedules/schedule.ts'
import type { ClusterHarness } from '../cluster-harness.ts'
import type { Harness } from '../engine-harness.ts'
import type { Checks } from './checks.ts'
import type { Faults } from './faults.ts'
import type { Random } from './random.ts'
import { createScriptedAgent } from './scripted-agent.ts'

/** Longer than a lease. */
const MOST_BLOCKED_MS = 6_000
export const root: Caller = { tenant: '*', principal: 'root', operator: true }

/** What may happen in a history beside the faults, and what is checked beside the checks of every history. */
export interface Alphabet {
  readonly letters: readonly string[]
  readonly acts: readonly Act[]
  readonly schedule?: readonly Schedule[]
  /** When the first processes have started. */
  readonly begin?: (history: History) => void
  /** Now and then, until every task has ended. */
  readonly finishing?: (history: History) => void
  /** When every task has ended. @throws Error when something is wrong */
  readonly check?: (history: History) => Promise<void>
}

export interface History {
  readonly random: Random
  readonly faults: Faults
  readonly alphabet: Alphabet
  readonly cluster: ClusterHarness
  readonly checks: Checks
  readonly live: Harness[]
  readonly stopped: Set<Harness>
  readonly taskIds: Set<string>
  readonly holds: Set<string>
  /** How often another server took over. */
  failovers: number
  /** There are no faults any more. */
  healed: boolean
}

export type Act = (history: History) => void

/** A process that cannot start is started again. */
export async function join(history: History): Promise<void> {
  for (;;) {
    try {
      await joinOnce(history)
      return
    } catch (error) {
      if (!isLullError(error, 'STORE_UNAVAILABLE')) throw error
    }
  }
}

async function joinOnce(history: History): Promise<void> {
  const { random, faults, cluster, checks, live, alphabet } = history
  const skewMs = faults.skew ? random.below(120_000) - 60_000 : 0
  let process: Harness | undefined
  const block = async (): Promise<void> => {
    if (process !== undefined)
      await stopFor(history, process, 1_000 + random.below(MOST_BLOCKED_MS))
  }
  const begins = checks.process()
  const concurrency = 1 + random.below(3)
  const { schedule = [] } = alphabet
  const agents = [createScriptedAgent({ begins, concurrency, block, schedule })]
  process = await cluster.join({ skewMs, agents })
  live.push(process)
}

/** Nothing of the process happens meanwhile. What blocks goes on first. */
async function stopFor(history: History, process: Harness, ms: number): Promise<void> {
  const { cluster, stopped } = history
  if (history.healed || stopped.has(process)) return
  stopped.add(process)
  cluster.stop(process)
  await new Promise<void>((resolve) => cluster.clock.after(ms, resolve))
  if (!stopped.delete(process)) return
  cluster.goOn(process)
}

/** A call whose answer is not waited for. What it answers is checked, unless the store may have lost it. */
export function call<T>(history: History, asked: Promise<T>, answered?: (answer: T) => void): void {
  const { checks, failovers } = history
  checks.track(
    asked.then((answer) => {
      if (failovers === history.failovers) answered?.(answer)
    }),
  )
}

export const someTask = ({ random, taskIds }: History): string =>
  random.pick([...taskIds]) ?? 'none'
