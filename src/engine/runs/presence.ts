/**
 * Where a task is in this process: one phase per task, and one table of the moves between phases. What a task has
 * follows from its phase alone (P1), so a slot cannot be kept or given back twice by a path that was forgotten.
 *
 *   phase      frame  slot    the task
 *   absent     no     no      is not here
 *   building   no     yes     is ours; its journal is being read
 *   running    yes    yes     is ours; its code runs
 *   waiting    yes    no      is ours; its code only waits for children
 *   evicted    no     no      is ours; waits for children without a frame
 *   rejoining  yes    queued  is ours; a child ended, its code goes on when it has a slot
 *   reviving   no     queued  is ours; a child ended, it is built when it has a slot
 *   warm       yes    no      is stopped; goes on from the same frame if it is resumed soon
 *
 * P1  The slot of a token is given back when its task enters a phase without one.
 * P2  A move that is not in the table does not happen.
 */
import type { LogRecord } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import type { Run } from '../run/run.ts'
import { TransientMap } from '../transient-map.ts'
import type { Slots } from './slots.ts'
import type { Warm } from './warm.ts'

export type Phase =
  | 'absent'
  | 'building'
  | 'running'
  | 'waiting'
  | 'evicted'
  | 'rejoining'
  | 'reviving'
  | 'warm'

export type Move =
  | 'launch'
  | 'begin'
  | 'continue-as'
  | 'wait'
  | 'child-ended'
  | 'slot'
  | 'evict'
  | 'stop'
  | 'leave'

type Row = readonly [from: readonly Phase[], move: Move, to: Phase]

/** `stop`: the task was paused, parked or asks. `leave`: it ended, or is somebody else's now. */
export const transitions: readonly Row[] = [
  [['absent'], 'launch', 'building'],
  [['absent', 'building'], 'begin', 'running'],
  [['warm'], 'launch', 'running'],
  [['running'], 'continue-as', 'building'],
  [['running'], 'wait', 'waiting'],
  [['waiting'], 'child-ended', 'rejoining'],
  [['rejoining'], 'slot', 'running'],
  [['waiting'], 'evict', 'evicted'],
  [['evicted'], 'child-ended', 'reviving'],
  [['reviving'], 'slot', 'building'],
  [['running', 'waiting', 'rejoining'], 'stop', 'warm'],
  [['building', 'evicted', 'reviving'], 'stop', 'absent'],
  [['warm'], 'evict', 'absent'],
  [
    ['building', 'running', 'waiting', 'evicted', 'rejoining', 'reviving', 'warm'],
    'leave',
    'absent',
  ],
]

const holdsSlot: ReadonlySet<Phase> = new Set(['building', 'running', 'rejoining', 'reviving'])
const evictable: ReadonlySet<Phase> = new Set(['waiting', 'warm'])

export interface Presence {
  readonly taskId: string
  readonly agent: string
  phase: Phase
  /** The run token under which the task is ours, or was before it stopped. */
  token: string
  /** The frame. */
  run: Run | undefined
  /** While building: what was published since the build began. */
  building: Building | undefined
  /** How many commands that may stop the task are under way. */
  freezes: number
  /** Called when the last of them is over. */
  thawed: (() => void) | undefined
}

export interface Building {
  task: Task | undefined
  records: LogRecord[]
}

export interface Presences {
  readonly get: (taskId: string) => Presence | undefined
  /** A task that was absent. It is listed after its first move. */
  create(taskId: string, agent: string, token: string): Presence
  /** False: the table has no such move. */
  move(presence: Presence, move: Move): boolean
  readonly values: () => readonly Presence[]
  clear(): void
}

export function createPresences(slots: Slots, warm: Warm): Presences {
  const present = new TransientMap<Presence>()

  function move(presence: Presence, by: Move): boolean {
    const from = presence.phase
    const to = nextPhase(from, by)
    if (to === undefined) return false
    presence.phase = to
    if (from === 'absent') present.set(presence.taskId, presence)
    if (to === 'absent') present.delete(presence.taskId)
    if (!hasFrame.has(to)) presence.run = undefined
    if (holdsSlot.has(from) && !holdsSlot.has(to)) slots.free(presence.token)
    if (evictable.has(from) && !evictable.has(to)) warm.remove(presence.taskId)
    // Last: where nothing is kept warm, this evicts at once.
    if (evictable.has(to)) warm.add(presence.taskId)
    return true
  }

  return {
    get: (taskId) => present.get(taskId),
    create: (taskId, agent, token) => ({
      taskId,
      agent,
      phase: 'absent',
      token,
      run: undefined,
      building: undefined,
      freezes: 0,
      thawed: undefined,
    }),
    move,
    values: () => present.values(),
    clear: () => present.clear(),
  }
}

const hasFrame: ReadonlySet<Phase> = new Set(['running', 'waiting', 'rejoining', 'warm'])

const moves = new Map<Phase, Map<Move, Phase>>()
for (const [froms, by, to] of transitions) {
  for (const from of froms) {
    const row = moves.get(from) ?? new Map<Move, Phase>()
    moves.set(from, row.set(by, to))
  }
}

export function nextPhase(from: Phase, by: Move): Phase | undefined {
  return moves.get(from)?.get(by)
}
