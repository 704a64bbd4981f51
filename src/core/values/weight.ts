/**
 * Estimates how many bytes a JSON value takes in memory. Strings are counted by their length, so
 * the cost is that of visiting each value.
 */
export function weightOf(value: unknown): number {
  if (typeof value === 'string') return value.length + PER_VALUE
  if (typeof value !== 'object' || value === null) return PER_VALUE
  let sum = PER_OBJECT
  if (Array.isArray(value)) for (const one of value) sum += weightOf(one)
  else for (const key in value) sum += PER_NAME + weightOf((value as Record<string, unknown>)[key])
  return sum
}

const PER_VALUE = 8
/**
 * Per member: its name, its value and its position. V8 stores an object with very many members as a
 * hash table.
 */
const PER_NAME = 24
const PER_OBJECT = 32
