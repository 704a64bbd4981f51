import { describeError } from '../../core/values/describe-error.ts'
import type { Log } from '../../ports/log.ts'

/**
 * A log that never throws. The log of an embedding program may fail on a fact that agent code made (a circular object, a
 * proxy that throws). The line is then written again with every fact as text.
 */
export function safeLog(log: Log): Log {
  return (level, text, facts = {}) => {
    try {
      log(level, text, facts)
    } catch {
      writeAsText(log, level, text, facts)
    }
  }
}

function writeAsText(log: Log, ...[level, text, facts]: Required<Parameters<Log>>): void {
  try {
    const texts = Object.keys(facts).map((key) => [key, describeError(facts[key]).message])
    log(level, text, Object.fromEntries(texts))
  } catch {
    // The log itself is broken. There is nowhere to report that.
  }
}
