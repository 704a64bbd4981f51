/**
 * Encodes notices as JSON. PostgreSQL allows less than 8,000 bytes, so a longer notice is sent in
 * fragments: `sender/number/index/count/` followed by a piece of the JSON. The fragments of a
 * sender arrive in order on one connection.
 */
import type { Changes } from '../../../ports/store/cluster.ts'

export interface Notice {
  readonly sender: string
  readonly changes: Changes
}

const LIMIT = 7_900
/** The bytes of JSON per fragment. The rest of 8,000 is for the prefix. */
const PIECE = 7_700
const TASKS_PER_NOTICE = 100

/** Splits collected changes into notices. */
export function noticesOf(sender: string, collected: Changes): readonly string[] {
  const { tasks = [], readyAgents = [], everything, ...rest } = collected
  const others = Object.values(rest).some((one) => !Array.isArray(one) || one.length > 0)
  const spoken = others ? long(sender, rest) : []
  if (everything) return [encode(sender, { everything: true }), ...spoken]
  const pages: Changes[] = []
  for (let n = 0; n < tasks.length; n += TASKS_PER_NOTICE) {
    pages.push({ tasks: tasks.slice(n, n + TASKS_PER_NOTICE) })
  }
  // The agents go into the first notice that is sent anyway, if there is one.
  const [first = {}, ...later] = pages
  const all = readyAgents.length > 0 ? [{ ...first, readyAgents }, ...later] : pages
  const notices = all.map((changes) => encode(sender, changes))
  // A notice can be too long because of long ids. Then it is replaced by one that says that
  // anything may have changed.
  const short = notices.map((text) => (fits(text) ? text : encode(sender, { everything: true })))
  return [...short, ...spoken]
}

function encode(sender: string, changes: Changes): string {
  const notice: Notice = { sender, changes }
  return JSON.stringify(notice)
}

function fits(text: string): boolean {
  return Buffer.byteLength(text) < LIMIT
}

let fragmented = 0

function long(sender: string, changes: Changes): readonly string[] {
  const text = encode(sender, changes)
  if (fits(text)) return [text]
  const bytes = Buffer.from(text)
  const pieces: string[] = []
  for (let from = 0; from < bytes.length; ) {
    const end = characterBefore(bytes, from + PIECE)
    pieces.push(bytes.toString('utf8', from, end))
    from = end
  }
  const number = ++fragmented
  return pieces.map((piece, index) => `${sender}/${number}/${index}/${pieces.length}/${piece}`)
}

/** The largest index up to `end` at which a character begins. */
function characterBefore(bytes: Buffer, end: number): number {
  let at = Math.min(end, bytes.length)
  while (at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) at--
  return at
}

/**
 * Reads one payload. `incomplete`: more fragments follow. Undefined: the text is not a notice of
 * Lull.
 */
export type NoticeReader = (payload: string) => Notice | 'incomplete' | undefined

/** Reads the notices of one connection, and joins fragments. */
export function createNoticeReader(): NoticeReader {
  const begun = new Map<string, { readonly number: string; text: string; next: number }>()

  return (payload) => {
    if (payload.startsWith('{')) return readNotice(payload)
    const found = /^([^/]+)\/(\d+)\/(\d+)\/(\d+)\/(.*)$/s.exec(payload)
    if (found === null) return undefined
    const [, sender = '', number = '', index, count, piece = ''] = found
    const known = begun.get(sender)
    const one = known?.number === number ? known : { number, text: '', next: 0 }
    begun.set(sender, one)
    // Earlier fragments were sent before this connection listened, so the notice is dropped.
    if (Number(index) !== one.next) return 'incomplete'
    one.text += piece
    one.next++
    if (one.next < Number(count)) return 'incomplete'
    begun.delete(sender)
    return readNotice(one.text)
  }
}

function readNotice(text: string): Notice | undefined {
  try {
    const { sender, changes } = JSON.parse(text) as Partial<Notice>
    return sender === undefined || changes === undefined ? undefined : { sender, changes }
  } catch {
    return undefined
  }
}
