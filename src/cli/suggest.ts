/** The known word nearest to a mistyped word; undefined when none is near. */
export function nearest(typed: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((word) => ({ word, edits: distance(typed, word) }))
    .sort((a, b) => a.edits - b.edits)
  if (best === undefined) return undefined
  const most = best.word.length < 4 ? 1 : Math.max(2, Math.floor(best.word.length / 4))
  return best.edits <= most ? best.word : undefined
}

/** The Levenshtein distance: the number of letters to insert, remove or replace. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (const [j, other] of [...b].entries()) {
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
