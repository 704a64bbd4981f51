/**
 * Cache of the last formatted second: instants that are formatted one after another mostly share
 * it.
 */
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

/**
 * Returns 0 for a number that is not an instant. Older versions imported logs with any number here.
 */
export function instantOr0(instant: number): number {
  return instant >= 0 && instant <= LAST_INSTANT ? instant : 0
}

/** Parses an ISO 8601 instant to epoch milliseconds; NaN when the text is not one. */
export function fromIso(text: string): number {
  // biome-ignore lint/style/noRestrictedGlobals: a pure conversion
  return Date.parse(text)
}
