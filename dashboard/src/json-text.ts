/** JSON that a person types: what is wrong with it, and where. Browsers name the place of some faults only. */

const token =
  /[\t\n\r ]*(?:(?<name>"(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*")|(?<scalar>-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)|(?<mark>[[\]{}:,])|(?<end>$))/y

/** What may come next, and what a reader is told where something else comes. */
const wanted = {
  value: 'a value is expected',
  'value or ]': 'a value or ] is expected',
  name: 'a name in double quotes is expected',
  'name or }': 'a name in double quotes or } is expected',
  ':': 'a colon is expected',
  ', or ]': 'a comma or ] is expected',
  ', or }': 'a comma or } is expected',
  end: 'nothing more is expected',
} as const
type Wanted = keyof typeof wanted

/** Undefined: it is JSON, or empty. */
export function problemOf(text: string): string | undefined {
  if (text.trim() === '') return undefined
  try {
    JSON.parse(text)
    return undefined
  } catch {
    const { at, next } = faultIn(text)
    const before = text.slice(0, at).split('\n')
    const place = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`
    return `This is not JSON. In ${place}, ${wanted[next]}.`
  }
}

/** Reads token by token. `open` has the brackets that are not closed yet. */
function faultIn(text: string): { readonly at: number; readonly next: Wanted } {
  const open: ('[' | '{')[] = []
  let next: Wanted = 'value'
  token.lastIndex = 0
  for (;;) {
    const from = token.lastIndex
    const found = token.exec(text)
    const after: Wanted | undefined = found === null ? undefined : wantedAfter(next, found, open)
    if (after === undefined || found?.groups?.['end'] !== undefined) {
      return { at: from + (/^[\t\n\r ]*/.exec(text.slice(from))?.[0].length ?? 0), next }
    }
    next = after
  }
}

/** What may come after a token. Undefined: the token itself may not come. */
function wantedAfter(
  next: Wanted,
  { groups: { name, scalar, mark } = {} }: RegExpExecArray,
  open: ('[' | '{')[],
): Wanted | undefined {
  const afterValue = (): Wanted => {
    const around = open.at(-1)
    return around === undefined ? 'end' : around === '[' ? ', or ]' : ', or }'
  }
  const isValue = next === 'value' || next === 'value or ]'
  if (isValue && (name !== undefined || scalar !== undefined)) return afterValue()
  if (isValue && (mark === '[' || mark === '{')) {
    open.push(mark)
    return mark === '[' ? 'value or ]' : 'name or }'
  }
  if (name !== undefined) return next === 'name' || next === 'name or }' ? ':' : undefined
  if (mark === ':') return next === ':' ? 'value' : undefined
  if (mark === ',') return next === ', or ]' ? 'value' : next === ', or }' ? 'name' : undefined
  const closes =
    mark === ']' ? ['value or ]', ', or ]'] : mark === '}' ? ['name or }', ', or }'] : []
  if (!closes.includes(next)) return undefined
  open.pop()
  return afterValue()
}
