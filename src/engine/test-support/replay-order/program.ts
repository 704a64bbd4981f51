/**
 * Random programs whose branches run side by side, and the agent that runs one. The program notes what its code sees, in
 * the order in which it sees it, once for each run of its task. For tests only.
 */
import { isLullError } from '../../../core/errors.ts'
import type { Json } from '../../../core/values/json.ts'
import { type Agent, agent } from '../../author/agent.ts'
import type { AgentTask, Turn } from '../../author/agent-task.ts'
import { createRandom, type Random } from '../simulation/random.ts'

type Branches = readonly Program[]
export type Program = readonly Op[]

type Op =
  | { readonly op: 'step'; readonly name: string; readonly flaky: boolean }
  | { readonly op: 'value'; readonly kind: 'now' | 'uuid' | 'random' }
  | {
      readonly op:
        | 'say'
        | 'artifact'
        | 'usage'
        | 'nested'
        | 'child'
        | 'park'
        | 'park-child'
        | 'compact'
    }
  | { readonly op: 'tools'; readonly names: readonly string[] }
  | { readonly op: 'turn'; readonly ops: Program }
  | { readonly op: 'parallel' | 'race'; readonly branches: Branches }

/** Few names, so that branches compete for the same keys. */
const names = ['a', 'b'] as const
const leaves = [
  'say',
  'artifact',
  'usage',
  'usage',
  'nested',
  'child',
  'park',
  'park-child',
  'compact',
] as const
const kinds = ['now', 'uuid', 'random'] as const
const MOST_TURNS = 12

export function randomProgram(random: Random): Program {
  return list(random, 3, () => branching(random, 2))
}

function list<T>(random: Random, most: number, make: () => T): readonly T[] {
  return Array.from({ length: 1 + random.below(most) }, make)
}

function branching(random: Random, depth: number): Op {
  const branches = Array.from({ length: 2 + random.below(2) }, () =>
    list(random, 4, () => anyOp(random, depth - 1, false)),
  )
  return { op: random.chance(0.5) ? 'race' : 'parallel', branches }
}

function anyOp(random: Random, depth: number, inTurn: boolean): Op {
  const dice = random.next()
  if (dice < 0.3) return { op: 'step', name: nameOf(random), flaky: random.chance(0.2) }
  if (dice < 0.45) return { op: 'value', kind: random.pick(kinds) ?? 'now' }
  if (dice < 0.55 && depth > 0) return branching(random, depth)
  if (dice < 0.65 && inTurn) return { op: 'tools', names: list(random, 3, () => nameOf(random)) }
  if (dice < 0.65) return { op: 'turn', ops: list(random, 3, () => anyOp(random, 0, true)) }
  const op = random.pick(leaves) ?? 'say'
  return op.startsWith('park') && inTurn ? { op: 'say' } : { op }
}

const nameOf = (random: Random): string => random.pick(names) ?? 'a'

/** What the runs of one task saw and did. */
export interface Observed {
  /** For each run, in the order in which they began: what its code saw. */
  readonly runs: (readonly string[])[]
  /** The payments that were made: the place in the program, and who was paid. */
  readonly paid: string[]
}

export interface ObservedProgram {
  readonly agents: readonly Agent[]
  readonly observed: Observed
}

/**
 * @param delays chooses how long steps take: another time in every execution
 * @param pace a longer time for slower stores
 */
export function observedProgram(program: Program, delays: Random, pace: number): ObservedProgram {
  const observed: Observed = { runs: [], paid: [] }
  const idle = async (): Promise<void> => {
    for (let turns = pace * delays.below(MOST_TURNS); turns > 0; turns--) {
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const parent = agent({
    name: 'worker',
    description: 'runs a random program',
    transcriptLimit: 4,
    compact(transcript, spend) {
      spend({ inputTokens: 1 })
      return transcript.slice(-2)
    },
    digest(_, spend) {
      spend({ inputTokens: 1 })
      return 'short'
    },
    async run(task) {
      const seen: string[] = []
      observed.runs.push(seen)
      const frame: Frame = { task, seen, paid: observed.paid, idle, behind: [] }
      await perform(frame, program, '')
      await Promise.all(frame.behind)
      // Whatever was seen is seen once more by a run that is rebuilt from the whole log.
      await task.park({ reason: 'end' })
      seen.push('end')
    },
  })
  const child = agent({
    name: 'child',
    description: 'works for a while',
    run: (task) => task.step('work', async () => void (await idle())).then(() => task.text),
  })
  return { agents: [parent, child], observed }
}

interface Frame {
  readonly task: AgentTask
  readonly seen: string[]
  readonly paid: string[]
  readonly idle: () => Promise<void>
  /** Branches that lost a race and go on. */
  readonly behind: Promise<unknown>[]
}

async function perform(frame: Frame, program: Program, at: string, turn?: Turn): Promise<void> {
  for (const [index, op] of program.entries()) {
    const place = `${at}/${index}`
    const value = await one(frame, op, place, turn)
    frame.seen.push(`${place} ${op.op} ${JSON.stringify(value)}`)
  }
}

async function one(frame: Frame, op: Op, place: string, turn: Turn | undefined): Promise<Json> {
  const { task } = frame
  switch (op.op) {
    case 'step':
      return step(frame, op, place)
    case 'value':
      return task[op.kind]()
    case 'say':
      await task.say(place)
      return null
    case 'artifact':
      return (await task.artifact({ name: 'x', text: place })).artifactId
    case 'usage':
      await task.usage({ inputTokens: 1 })
      return null
    case 'nested':
      return task.step('outer', async () => {
        await task.usage({ inputTokens: 1 })
        return step(frame, { name: 'inner', flaky: false }, place)
      })
    case 'child':
      return child(frame, place)
    case 'park':
      return orRefused(async () => (await task.park({ reason: place })).cause)
    case 'park-child':
      return parkUntilChild(frame, place)
    case 'compact':
      await task.compact()
      return null
    case 'tools':
      return tools(frame, op.names, turn)
    case 'turn':
      return task.turn(async (opened) => {
        opened.record('agent', place)
        await perform(frame, op.ops, place, opened)
        return opened.transcript.length
      })
    case 'parallel':
      await Promise.all(inBranches(frame, op.branches, place, turn))
      return null
    case 'race':
      return race(frame, inBranches(frame, op.branches, place, turn), place)
  }
}

function inBranches(
  frame: Frame,
  branches: Branches,
  place: string,
  turn: Turn | undefined,
): readonly Promise<number>[] {
  return branches.map((branch, index) =>
    perform(frame, branch, `${place}|${index}`, turn).then(() => index),
  )
}

/** The winner is paid. The others go on. */
async function race(
  { task, behind, paid }: Frame,
  branches: readonly Promise<number>[],
  place: string,
): Promise<Json> {
  behind.push(...branches)
  const winner = await Promise.race(branches)
  const pay = (): number => {
    paid.push(`${place} ${winner}`)
    return winner
  }
  return task.step('pay', pay, { key: `pay ${place}`, with: winner })
}

async function step(
  { task, idle }: Frame,
  { name, flaky }: { readonly name: string; readonly flaky: boolean },
  place: string,
): Promise<Json> {
  const retry = { attempts: 1, backoffMs: 1 }
  const work = async ({ attempt }: { readonly attempt: number }): Promise<string> => {
    await idle()
    if (flaky && attempt === 1) throw new Error('not yet')
    return place
  }
  return task.step(name, work, flaky ? { retry } : {})
}

async function child({ task, seen }: Frame, place: string): Promise<Json> {
  const made = await task.delegate('child', place)
  seen.push(`${place} delegated ${made.id}`)
  const read = task.uuid()
  return orRefused(async () => [(await made.result()).state, read])
}

/** The park also ends when what disturbs the task resumes it. */
async function parkUntilChild({ task, seen }: Frame, place: string): Promise<Json> {
  const made = await task.delegate('child', place)
  seen.push(`${place} delegated ${made.id}`)
  return orRefused(async () => {
    const { cause, child: ended } = await task.park({ reason: place, child: made })
    return [cause, ended?.taskId ?? null, ended?.state ?? null]
  })
}

/** Branches that run side by side may stop at the same time, which is refused. */
async function orRefused(wait: () => Promise<Json>): Promise<Json> {
  try {
    return await wait()
  } catch (error) {
    if (isLullError(error, 'INVALID_INPUT')) return 'refused'
    throw error
  }
}

async function tools(
  { idle }: Frame,
  wanted: readonly string[],
  turn: Turn | undefined,
): Promise<Json> {
  const run = async (): Promise<null> => {
    await idle()
    return null
  }
  const results = (await turn?.tools(wanted.map((name) => ({ name, run })))) ?? []
  return results.map(({ status }) => status)
}

/** The delays of a program's steps: others than those of its store. */
export const delaysOf = (seed: number): Random => createRandom(seed * 7_919 + 1)
