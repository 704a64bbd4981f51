/**
 * The phase of a task in this process, and one table of the moves between phases. Whether a task
 * has a slot and a run in memory follows from its phase alone (P1).
 *
 *   phase      run    slot    the task
 *   absent     no     no      is not in this process
 *   building   no     yes     is run here; its journal is being read
 *   running    yes    yes     is run here; its code runs
 *   waiting    yes    no      is run here; its code only waits for children
 *   evicted    no     no      is run here; waits for children without a run in memory
 *   rejoining  yes    queued  is run here; a child ended, its code goes on when it has a slot
 *   reviving   no     queued  is run here; a child ended, it is built when it has a slot
 *   warm       yes    no      is stopped; the same run continues if it is resumed soon
 *
 * P1  The slot of a token is freed when its task enters a phase without a slot.
 * P2  A move that is not in the table does not happen.
 */
import type { LogRecord } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import type { AgentTable } from '../author/agent-table.ts'
import { TransientMap } from '../limits/transient-map.ts'
import type { Run } from '../run/run.ts'
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

/**
 * `stop`: the task was paused or parked, or it asks a question. `leave`: it ended, or another
 * process runs it.
 */
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

interface PhaseFacts {
  readonly holdsSlot: boolean
  readonly evictable: boolean
  readonly hasRun: boolean
}

const factsOf: Readonly<Record<Phase, PhaseFacts>> = {
  absent: { holdsSlot: false, evictable: false, hasRun: false },
  building: { holdsSlot: true, evictable: false, hasRun: false },
  running: { holdsSlot: true, evictable: false, hasRun: true },
  waiting: { holdsSlot: false, evictable: true, hasRun: true },
  evicted: { holdsSlot: false, evictable: false, hasRun: false },
  rejoining: { holdsSlot: true, evictable: false, hasRun: true },
  reviving: { holdsSlot: true, evictable: false, hasRun: false },
  warm: { holdsSlot: false, evictable: true, hasRun: true },
}

export interface Presence {
  readonly taskId: string
  readonly agent: string
  readonly tenant: string
  phase: Phase
  /** The token of the task's run in this process. A stopped task keeps that of its last run. */
  token: string
  /** The run in memory. */
  run: Run | undefined
  /** In phase `building`: the records that were published since the build began. */
  building: Building | undefined
  /** How many commands that may stop the task are in flight. */
  freezes: number
  /** Called when the last of these commands is settled. */
  thawed: (() => void) | undefined
}

export interface Building {
  task: Task | undefined
  records: LogRecord[]
}

export interface Presences {
  readonly get: (taskId: string) => Presence | undefined
  /** Makes the presence of an absent task. It is listed after its first move. */
  create(task: Pick<Task, 'id' | 'agent' | 'tenant'>, token: string): Presence
  /** Applies a move. Returns false if the table has no such move. */
  move(presence: Presence, move: Move): boolean
  readonly values: () => readonly Presence[]
  clear(): void
}

export function createPresences(
  slots: Slots,
  warm: Warm,
  usedBy: AgentTable['usedBy'] = () => () => undefined,
): Presences {
  const present = new TransientMap<Presence>()
  const runEnded = usedBy(
    () => new Set(present.values().flatMap(({ run }) => (run === undefined ? [] : [run.source]))),
  )

  function move(presence: Presence, by: Move): boolean {
    const from = presence.phase
    const to = nextPhase(from, by)
    if (to === undefined) return false
    presence.phase = to
    if (from === 'absent') present.set(presence.taskId, presence)
    if (to === 'absent') present.delete(presence.taskId)
    if (!factsOf[to].hasRun) {
      presence.run = undefined
      if (factsOf[from].hasRun) runEnded()
    }
    if (factsOf[from].holdsSlot && !factsOf[to].holdsSlot) slots.free(presence.token)
    if (factsOf[from].evictable && !factsOf[to].evictable) warm.remove(presence.taskId)
    // Comes last, because it evicts at once if no run may be kept in memory.
    if (factsOf[to].evictable) warm.add(presence)
    return true
  }

  return {
    get: (taskId) => present.get(taskId),
    create: ({ id, agent, tenant }, token) => ({
      taskId: id,
      agent,
      tenant,
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
