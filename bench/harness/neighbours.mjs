/** How many cores others used meanwhile. Above a third of one, take the figures of a row with care. */
import { readFileSync } from 'node:fs'

const TICKS_PER_SECOND = 100

/** Call the result at the end. Undefined where the system does not tell (anything but Linux). */
export function watchNeighbours() {
  if (process.platform !== 'linux') return () => undefined
  const started = performance.now()
  const before = busy() - own()
  return () => {
    const seconds = (performance.now() - started) / 1_000
    return Math.max(0, (busy() - own() - before) / TICKS_PER_SECOND / seconds)
  }
}

/** All processors together: everything but idle and waiting for disks; `steal` is what another guest of the host took. */
function busy() {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n')
  const [, user, nice, system, , , irq, softirq, steal] = line.split(/\s+/).map(Number)
  return user + nice + system + irq + softirq + steal
}

/** This process and those of its children that have ended. */
function own() {
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return [11, 12, 13, 14].reduce((sum, field) => sum + Number(fields[field]), 0)
}
