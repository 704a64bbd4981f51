/**
 * Loaded before the program (`node --import`), in each of its threads. Its wall clock shows `LULL_TEST_SKEW_MS` more than that
 * of the machine. With `LULL_TEST_STEPS`, a number, somebody sets it every four seconds: right, a day ahead or a day back.
 */
const skewMs = Number(process.env['LULL_TEST_SKEW_MS'] ?? 0)
const steps = process.env['LULL_TEST_STEPS']
const RealDate = Date
const PERIOD_MS = 4_000
const DAY_MS = 86_400_000

/** The number decides what the clock shows in which period. */
function stepAt(real) {
  const period = Math.floor(real / PERIOD_MS)
  const mixed = Math.imul(period ^ (Number(steps) * 7_919), 2_654_435_761) >>> 16
  return ([0, 1, 0, -1][mixed % 4] ?? 0) * DAY_MS
}

function now() {
  const real = RealDate.now() + skewMs
  return steps === undefined ? real : real + stepAt(real)
}

globalThis.Date = class extends RealDate {
  constructor(...given) {
    super(...(given.length === 0 ? [now()] : given))
  }

  static now() {
    return now()
  }
}
