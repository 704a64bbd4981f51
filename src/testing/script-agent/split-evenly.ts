/** Splits into exactly `chunks` texts of nearly equal size. */
export function splitEvenly(units: readonly string[], chunks: number): readonly string[] {
  const edge = (index: number): number => Math.round((index * units.length) / chunks)
  return Array.from({ length: chunks }, (_, index) =>
    units.slice(edge(index), edge(index + 1)).join(''),
  )
}
