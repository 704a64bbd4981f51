/**
 * Back pressure: counts the commands that wait for the store, and refuses new messages above a
 * limit.
 *
 * A1  Only new messages and reminders are refused. Commands that stop or end work, and the records of runs, never are.
 */
import { LullError } from '../../core/errors.ts'

export interface Admission {
  /**
   * Called before a new message is accepted.
   * @throws LullError `OVERLOADED`
   */
  check(): void
  entered(bytes: number): void
  left(bytes: number): void
  /** How many commands wait for the store. */
  readonly waiting: () => number
}

export interface AdmissionLimits {
  /** Commands that wait for the store. */
  readonly waitingCommands: number
  /** Bytes of the messages among them. */
  readonly waitingBytes: number
}

const RETRY_AFTER_MS = 1_000

export function createAdmission(limits: AdmissionLimits): Admission {
  let waitingCommands = 0
  let waitingBytes = 0

  function refuseAbove(limit: keyof AdmissionLimits, value: number): void {
    if (value < limits[limit]) return
    throw new LullError('OVERLOADED', {
      limit,
      value: limits[limit],
      retryAfterMs: RETRY_AFTER_MS,
    })
  }

  return {
    check() {
      refuseAbove('waitingCommands', waitingCommands)
      refuseAbove('waitingBytes', waitingBytes)
    },
    entered(bytes) {
      waitingCommands++
      waitingBytes += bytes
    },
    left(bytes) {
      waitingCommands--
      waitingBytes -= bytes
    },
    waiting: () => waitingCommands,
  }
}
