import type { Clock } from '../../ports/clock.ts'

/** The wall clock. Its timers do not keep a process alive: a server does that by listening. */
export const systemClock: Clock = {
  now: Date.now,
  after(ms, callback) {
    const timer = setTimeout(callback, ms)
    timer.unref()
    return () => clearTimeout(timer)
  },
}
