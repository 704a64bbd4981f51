/**
 * What happens to a cluster on a bad day: somebody sets wall clocks, machines sleep, agents block their process, tasks have
 * hundreds of steps side by side, a budget is used up, and a schedule starts tasks all the time. For tests only.
 *
 *  S15 a time of the schedule starts one task, and no time is left out;
 *  S16 a budget counts what the logs say.
 */

import { keyIn } from '../../../testing/key-in.ts'
import type { ClusterHarness } from '../cluster-harness.ts'
import { olga } from '../engine-harness.ts'
import { plain } from './acts.ts'
import { type Act, type Alphabet, call, type History, root } from './history.ts'
import { MOST_AHEAD_MS } from './log-checks.ts'

const MINUTE_MS = 60_000
const EVERY_MS = 5_000
const steps = [60 * MINUTE_MS, -60 * MINUTE_MS, MINUTE_MS, -MINUTE_MS, 2_000]
const spending = { scope: { tenant: 'acme' }, measure: 'inputTokens' } as const
/** Nothing uses so much. */
const PLENTY = 1_000_000

const stepWall: Act = ({ random, live, cluster }) => {
  const process = random.pick(live)
  if (process !== undefined) cluster.stepWall(process, random.pick(steps) ?? 0)
}

/** Until the act that lets a stopped process go on. */
const sleep: Act = ({ random, live, stopped, cluster }) => {
  const process = random.pick(live)
  if (process === undefined || stopped.has(process)) return
  stopped.add(process)
  cluster.sleep(process)
}

const raise: Act = (history) => allow(history, 3 + history.random.below(40))

/** When the budget was there for certain. */
const budgetedAt = new WeakMap<History, number>()

function allow(history: History, limit: number): void {
  const raising = history.random.pick(history.live)?.engine.setBudget(root, { ...spending, limit })
  if (raising === undefined) return
  call(history, raising, () => {
    budgetedAt.set(history, budgetedAt.get(history) ?? history.cluster.clock.now())
  })
}

export const hostile: Alphabet = {
  letters: [...plain.letters, 'w', 'b', 'u', 'u'],
  acts: [...plain.acts, stepWall, stepWall, stepWall, sleep, raise],
  schedule: [{ name: 'tick', every: EVERY_MS, message: 's', tenant: 'acme' }],
  begin: (history) => allow(history, 3),
  finishing: (history) => allow(history, PLENTY),
  async check(history) {
    await checkSchedule(history)
    await checkBudget(history)
  },
}

async function checkSchedule({ live }: History): Promise<void> {
  const found = await live[0]?.engine.list(olga, { limit: 100 })
  const times = (found?.tasks ?? [])
    .map(({ metadata }) => metadata?.['schedule'] as { readonly time: string } | undefined)
    .flatMap((schedule) => (schedule === undefined ? [] : [Date.parse(schedule.time)]))
    .sort((a, b) => a - b)
  const [first = 0] = times
  const wrong = times.find((time, n) => time !== first + n * EVERY_MS)
  if (wrong !== undefined) throw new Error(`S15: the times are ${times.map((at) => at - first)}`)
}

async function checkBudget(history: History): Promise<void> {
  const [budget] = (await history.live[0]?.engine.budgets(root)) ?? []
  if (budget === undefined) throw new Error('S16: there is no budget')
  const after = budgetedAt.get(history) ?? Number.POSITIVE_INFINITY
  const least = await tokensSince(history.cluster, after + MOST_AHEAD_MS)
  const most = await tokensSince(history.cluster, budget.startedAt - MOST_AHEAD_MS)
  if (budget.spent < least || budget.spent > most) {
    throw new Error(`S16: ${budget.spent} tokens were counted, not ${least} to ${most}`)
  }
}

async function tokensSince({ store }: ClusterHarness, from: number): Promise<number> {
  let used = 0
  for (const { id } of await store.list({ limit: 1_000 })) {
    for (const record of await store.records(...(await keyIn(store, id)), 0, 10_000)) {
      if (record.type === 'usage' && record.at >= from) used += record.usage.inputTokens ?? 0
    }
  }
  return used
}
