/** About how many bytes a JSON value takes in memory. Strings are counted by their length, so the cost is that of a walk. */
export function weightOf(value: unknown): number {
  if (typeof value === 'string') return value.length + PER_VALUE
  if (typeof value !== 'object' || value === null) return PER_VALUE
  let sum = PER_OBJECT
  if (Array.isArray(value)) for (const one of value) sum += weightOf(one)
  else for (const key in value) sum += PER_NAME + weightOf((value as Record<string, unknown>)[key])
  return sum
}

const PER_VALUE = 8
/** An object with very many names is a hash table: a name, its value and its place in the order. */
const PER_NAME = 24
const PER_OBJECT = 32
