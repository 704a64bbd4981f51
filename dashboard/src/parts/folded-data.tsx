/** Longer JSON is cut here. A download or an export has all of it. */
const MOST = 20_000

/** JSON, folded: its first line says how much there is. */
export function FoldedData({ data }: { readonly data: unknown }) {
  const isObject = typeof data === 'object' && data !== null
  const count = isObject ? Object.keys(data).length : 1
  const noun = Array.isArray(data) ? 'item' : 'field'
  return (
    <details>
      <summary class="fold">
        <span class="small">
          data, {count} {noun}
          {count === 1 ? '' : 's'}
        </span>
      </summary>
      <pre>{JSON.stringify(data, null, 2).slice(0, MOST)}</pre>
    </details>
  )
}
