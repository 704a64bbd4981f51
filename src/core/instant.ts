/** The second that was formatted last. Most instants that are formatted within a second are of that second. */
let second = Number.NaN
let written = ''

/** Epoch milliseconds as ISO 8601, UTC. Formatting only: no clock is read here. */
export function toIso(instant: number): string {
  const whole = Math.floor(instant / 1_000) * 1_000
  if (whole !== second) {
    // biome-ignore lint/style/noRestrictedGlobals: a pure conversion
    written = new Date(whole).toISOString().slice(0, -4)
    second = whole
  }
  return `${written}${String(Math.floor(instant - whole)).padStart(3, '0')}Z`
}

/** An instant that was written as ISO 8601, in epoch milliseconds; NaN when it is none. */
export function fromIso(text: string): number {
  // biome-ignore lint/style/noRestrictedGlobals: a pure conversion
  return Date.parse(text)
}
