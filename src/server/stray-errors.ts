import type { Log } from '../ports/log.ts'

/**
 * Errors nobody waits for: an agent that lets a promise go and it fails later, a timer of its own that throws. They are
 * reported and otherwise ignored, because one agent's slip must not take the tasks of all others down. What matters is in
 * the store already, or its writer still waits for it.
 *
 * @returns how to stop watching
 */
export function watchStrayErrors(log: Log): () => void {
  const report = (error: unknown): void =>
    log('error', 'an error that no code waited for; probably an agent let a promise go', { error })
  process.on('unhandledRejection', report)
  process.on('uncaughtException', report)
  return () => {
    process.off('unhandledRejection', report)
    process.off('uncaughtException', report)
  }
}
