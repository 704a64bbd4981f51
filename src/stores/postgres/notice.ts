/** The text of a notice: JSON of less than 8,000 bytes, which is the limit of PostgreSQL. */
import type { Changes, TextChange } from '../../ports/store/cluster.ts'

export interface Notice {
  readonly sender: string
  readonly changes: Changes
}

const LIMIT = 7_900
const TASKS_PER_NOTICE = 100

/** Splits what was collected into notices. A text that is too long for a notice is dropped. */
export function noticesOf(sender: string, collected: Changes): readonly string[] {
  const { tasks = [], readyAgents = [], texts = [], everything } = collected
  if (everything) return [encode(sender, { everything: true }), ...textNotices(sender, texts)]
  const pages: Changes[] = []
  for (let n = 0; n < tasks.length; n += TASKS_PER_NOTICE) {
    pages.push({ tasks: tasks.slice(n, n + TASKS_PER_NOTICE) })
  }
  // Who hears that a task has moved hears with it that its agent has something to do.
  const [first = {}, ...rest] = pages
  const all = readyAgents.length > 0 ? [{ ...first, readyAgents }, ...rest] : pages
  const notices = all.map((changes) => encode(sender, changes))
  // Ids may be long. A process that hears this reads the row.
  const short = notices.map((text) => (fits(text) ? text : encode(sender, { everything: true })))
  return [...short, ...textNotices(sender, texts)]
}

function textNotices(sender: string, texts: readonly TextChange[]): readonly string[] {
  return texts.map((text) => encode(sender, { texts: [text] })).filter(fits)
}

function encode(sender: string, changes: Changes): string {
  const notice: Notice = { sender, changes }
  return JSON.stringify(notice)
}

function fits(text: string): boolean {
  return Buffer.byteLength(text) < LIMIT
}

/** Undefined for a text that is not a notice of Lull. */
export function readNotice(payload: string): Notice | undefined {
  try {
    const { sender, changes } = JSON.parse(payload) as Partial<Notice>
    return sender === undefined || changes === undefined ? undefined : { sender, changes }
  } catch {
    return undefined
  }
}
