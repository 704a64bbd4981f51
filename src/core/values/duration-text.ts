const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const

/** A time span in words, with at most two units: `3 h 12 min`. */
export function durationText(ms: number): string {
  const seconds = Math.floor(ms / 1_000)
  if (seconds < 1) return `${Math.round(ms)} ms`
  const first = units.findIndex(([, size]) => seconds >= size)
  const [word, size] = units[first] ?? (['s', 1] as const)
  const next = units[first + 1]
  const rest = next === undefined ? 0 : Math.floor((seconds % size) / next[1])
  const whole = `${Math.floor(seconds / size)} ${word}`
  return rest === 0 || next === undefined ? whole : `${whole} ${rest} ${next[0]}`
}
