import type { Log } from '../../ports/log.ts'

/**
 * Logs unhandled rejections and uncaught exceptions, for example of a promise that an agent does
 * not await. The process continues, because an error in one agent must not stop the tasks of
 * others. Durable state is not affected: it is either stored, or a caller still waits for the
 * write.
 * @returns a function that removes the handlers
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
