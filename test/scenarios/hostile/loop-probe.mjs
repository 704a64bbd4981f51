/**
 * Loaded into the server with `--import`. Measures the longest piece of work that held the event loop since the last question.
 * Work is processor time of the main thread: on a busy machine a thread may wait long without doing anything. Where the
 * system does not tell the time of one thread, work is the smaller of elapsed time and processor time of the process.
 */
import { readFileSync } from 'node:fs'

const mainThread = `/proc/self/task/${process.pid}/schedstat`
const reading = hasThreadTimes() ? readThread : readProcess
let before = reading()
let longest = 0

setInterval(measure, 5).unref()

process.on('message', (question) => {
  if (question === 'memory') process.send?.({ memory: process.memoryUsage.rss() })
  if (question === 'reference') process.send?.({ reference: reference() })
  if (question !== 'longest') return
  measure()
  process.send?.({ longest })
  longest = 0
})
process.channel?.unref()

function measure() {
  const now = reading()
  longest = Math.max(longest, Math.min(now.elapsed - before.elapsed, now.used - before.used))
  before = now
}

/** Milliseconds that a fixed piece of work takes: how fast this machine is now. */
function reference() {
  const text = `"${'\\u0001'.repeat(1_700_000)}"`
  const times = Array.from({ length: 5 }, () => {
    const { used } = reading()
    JSON.stringify(JSON.parse(text))
    return reading().used - used
  })
  return Math.min(...times)
}

/** The first number is nanoseconds on a processor. The kernel counts them only when it was built to. */
function hasThreadTimes() {
  try {
    return readThread().used > 0
  } catch {
    return false
  }
}

function readThread() {
  const [nanoseconds] = readFileSync(mainThread, 'utf8').split(' ')
  return { elapsed: performance.now(), used: Number(nanoseconds) / 1_000_000 }
}

function readProcess() {
  const { user, system } = process.cpuUsage()
  return { elapsed: performance.now(), used: (user + system) / 1_000 }
}
