/**
 * Loaded into the server with `--import`. Measures the longest piece of work that held the event loop since the last question.
 * Work is the smaller of elapsed time and processor time: on a busy machine a process may wait long without doing anything.
 */
let before = reading()
let longest = 0

setInterval(measure, 5).unref()

process.on('message', (question) => {
  if (question === 'memory') process.send?.({ memory: process.memoryUsage.rss() })
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

function reading() {
  const { user, system } = process.cpuUsage()
  return { elapsed: performance.now(), used: (user + system) / 1_000 }
}
