/**
 * The clock of the operating system. Invariants CL1 to CL3 are in `ports/clock.ts`.
 *
 * K1  A delay above 2^31 - 1 ms (24.8 days) would make a timer of Node fire at once. `after` waits in several parts.
 * K2  Timers of Node stand still while the machine sleeps. `at` compares its instant with `now` every few seconds.
 * K3  The time that the machine slept is the growth of its uptime minus elapsed time. The wall
 *     clock only decides when the two are compared: at once if it has jumped, and otherwise every
 *     minute. Reading the uptime takes a system call.
 */
import { uptime } from 'node:os'
import type { CancelTimer, Clock } from '../../ports/clock.ts'

const LONGEST_TIMER_MS = 2 ** 31 - 1
const SLEEP_CHECK_MS = 2_000
const LOOK_EVERY_MS = 60_000
/** The least jump of the wall clock. A wall clock that is corrected in small steps moves less. */
const WALL_STEP_MS = 1_000
/** The tolerance, because on some systems the uptime counts whole seconds. */
const SHORTEST_SLEEP_MS = 2_000

/**
 * The clocks of the machine, in milliseconds. The uptime is not affected by setting the wall clock,
 * and includes sleep.
 */
export interface MachineTime {
  readonly wall: () => number
  readonly uptime: () => number
}

const machine: MachineTime = { wall: Date.now, uptime: () => uptime() * 1_000 }

/**
 * Some hardened systems do not tell the uptime. Then a sleep is not noticed, and what came due
 * during it fires late.
 */
const uptimeOr = (read: () => number, otherwise: number): number => {
  try {
    return read()
  } catch {
    return otherwise
  }
}

export function createSystemClock(time: MachineTime = machine): Clock {
  const elapsed = (): number => performance.now()
  const now = createNow(time, elapsed)
  return {
    now,
    elapsed,
    wall: time.wall,
    after(ms, callback) {
      let left = ms
      return inParts(() => {
        const part = Math.min(left, LONGEST_TIMER_MS)
        left -= part
        return part
      }, callback)
    },
    at: (instant, callback) => inParts(() => Math.min(instant - now(), SLEEP_CHECK_MS), callback),
  }
}

export const systemClock: Clock = createSystemClock()

/**
 * Returns `now`: the wall clock at the first call, and from then on elapsed time plus the time of
 * sleep (CL1, K3).
 */
function createNow({ wall, uptime }: MachineTime, elapsed: () => number): () => number {
  /** By how much the wall clock and the uptime exceed elapsed time at this moment. */
  const look = (at: number) => ({ at, wall: wall() - at, uptime: uptimeOr(uptime, at) - at })
  let last = look(elapsed())
  let ahead = last.wall
  return () => {
    const at = elapsed()
    const isStill = Math.abs(wall() - at - last.wall) < WALL_STEP_MS
    if (isStill && at - last.at < LOOK_EVERY_MS) return Math.floor(at + ahead)
    const before = last
    last = look(at)
    const slept = last.uptime - before.uptime
    if (slept >= SHORTEST_SLEEP_MS) ahead += slept
    return Math.floor(at + ahead)
  }
}

/**
 * Waits in several parts until nothing is left. The callback is never called before this function
 * returns.
 */
function inParts(nextMs: () => number, callback: () => void): CancelTimer {
  const wait = (ms: number): NodeJS.Timeout =>
    setTimeout(
      () => {
        const next = nextMs()
        if (next > 0) timer = wait(next)
        else callback()
      },
      Math.max(0, ms),
    ).unref()
  let timer = wait(nextMs())
  return () => clearTimeout(timer)
}
