/** Epoch milliseconds as ISO 8601, UTC. Formatting only: no clock is read here. */
export function toIso(instant: number): string {
  // biome-ignore lint/style/noRestrictedGlobals: a pure conversion
  return new Date(instant).toISOString()
}
