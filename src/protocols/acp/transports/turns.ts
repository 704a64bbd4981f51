/**
 * Distributes the work of all sockets over the turns of the event loop, a little per turn, in the
 * order in which they asked. Other work of the process runs in between, however many messages have
 * arrived.
 */

/** Asks for a turn. The work returns how many bytes it has processed. */
export type Turns = (work: () => number) => void

const WORKS = 16
const BYTES = 262_144

export function createTurns(): Turns {
  let waiting: (() => number)[] = []
  let scheduled = false

  function schedule(): void {
    if (scheduled || waiting.length === 0) return
    scheduled = true
    setImmediate(run)
  }

  function run(): void {
    const works = waiting.splice(0, WORKS)
    let bytes = 0
    let done = 0
    while (done < works.length && bytes < BYTES) bytes += works[done++]?.() ?? 0
    if (done < works.length) waiting = [...works.slice(done), ...waiting]
    scheduled = false
    schedule()
  }

  return (work) => {
    waiting.push(work)
    schedule()
  }
}
