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

/** The largest instant that a `Date` can hold. */
export const LAST_INSTANT: number = 8_640_000_000_000_000

/** 0 for what is no instant. Older versions imported logs with any number. */
export function instantOr0(instant: number): number {
  return instant >= 0 && instant <= LAST_INSTANT ? instant : 0
}

/** An instant that was written as ISO 8601, in epoch milliseconds; NaN when it is none. */
export function fromIso(text: string): number {
  // biome-ignore lint/style/noRestrictedGlobals: a pure conversion
  return Date.parse(text)
}
