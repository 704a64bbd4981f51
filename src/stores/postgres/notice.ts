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
  const pages: (typeof tasks)[] = []
  for (let n = 0; n < tasks.length; n += TASKS_PER_NOTICE) {
    pages.push(tasks.slice(n, n + TASKS_PER_NOTICE))
  }
  const notices = pages.map((page) => encode(sender, { tasks: page }))
  if (readyAgents.length > 0) notices.push(encode(sender, { readyAgents }))
  // Ids may be long. Whoever hears this looks for itself.
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
