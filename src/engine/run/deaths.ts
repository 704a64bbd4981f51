/**
 * Finds in the log when a run last ended with operations in flight: its process died, lost its lease, or stopped before
 * they were finished. An operation that the code calls before it gets a result recorded after that may have begun
 * already.
 */
import type { LogRecord, RunToken } from '../../core/records.ts'

export class Deaths {
  #running = false
  #token: string | undefined
  #last = 0

  /** The number of the record after the last such end. 0 if there was none. */
  get last(): number {
    return this.#last
  }

  /** Follows the log, in order. */
  follow(record: LogRecord): void {
    switch (record.type) {
      case 'started':
        this.#begin(record.seq, record.run)
        break
      case 'resumed':
      case 'answered':
        if (record.run !== undefined) this.#begin(record.seq, record.run)
        break
      case 'continued':
        // The same run goes on with a new journal.
        this.#running = true
        break
      case 'paused':
      case 'released':
        if (record.inFlight) this.#last = record.seq
        this.#running = false
        break
      case 'parked':
      case 'asked':
        this.#running = false
        break
      default:
    }
  }

  /** A run that is started again under its token has not ended. */
  #begin(seq: number, { token }: RunToken): void {
    if (this.#running && token !== this.#token) this.#last = seq
    this.#running = true
    this.#token = token
  }
}
