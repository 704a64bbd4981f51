export function grouped<T, K>(these: readonly T[], keyOf: (one: T) => K): ReadonlyMap<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const one of these) {
    const key = keyOf(one)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [one])
    else group.push(one)
  }
  return groups
}
