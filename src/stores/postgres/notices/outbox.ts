/** Collects changes until they are sent. */
import type { TextNews } from '../../../core/messages/text-news.ts'
import type { Changes } from '../../../ports/store/cluster.ts'

export interface Outbox {
  readonly add: (changes: Changes) => void
  /** Resolves when there is something to send, or the signal aborts. */
  filled(until: AbortSignal): Promise<void>
  /** Returns everything collected, and empties the outbox. */
  take(): Changes
}

/** More changed tasks than that are reported as "anything may have changed". */
const TASKS = 500
/**
 * Text beyond this number of UTF-16 units is dropped. The other processes notice that they miss
 * something, and ask for it.
 */
const TEXT_UNITS = 262_144

export function createOutbox(): Outbox {
  let tasks = new Map<string, number>()
  let agents = new Set<string>()
  let texts: TextNews[] = []
  let wishes = new Map<string, number>()
  let everything = false
  let noted = false
  let holdEpoch = 0
  let wake: () => void = () => undefined

  const isEmpty = (): boolean =>
    tasks.size + agents.size + texts.length + wishes.size + holdEpoch === 0 && !everything && !noted

  return {
    add(changes) {
      for (const { id, version } of changes.tasks ?? []) {
        tasks.set(id, Math.max(version, tasks.get(id) ?? 0))
      }
      for (const agent of changes.readyAgents ?? []) agents.add(agent)
      texts.push(...(changes.texts ?? []))
      if (unitsOf(texts) > TEXT_UNITS) texts = []
      for (const { taskId, heard } of changes.wishes ?? []) wishes.set(taskId, heard)
      noted ||= changes.noted === true
      holdEpoch = Math.max(holdEpoch, changes.holdEpoch ?? 0)
      if (changes.everything || tasks.size > TASKS) {
        everything = true
        tasks = new Map()
      }
      if (!isEmpty()) wake()
    },
    async filled(until) {
      if (!isEmpty() || until.aborted) return
      await new Promise<void>((resolve) => {
        wake = resolve
        until.addEventListener('abort', wake, { once: true })
      })
      until.removeEventListener('abort', wake)
      wake = () => undefined
    },
    take() {
      const taken: Changes = {
        tasks: [...tasks].map(([id, version]) => ({ id, version })),
        readyAgents: [...agents],
        texts,
        wishes: [...wishes].map(([taskId, heard]) => ({ taskId, heard })),
        ...(noted ? { noted: true as const } : {}),
        ...(holdEpoch > 0 ? { holdEpoch } : {}),
        ...(everything ? { everything: true as const } : {}),
      }
      tasks = new Map()
      agents = new Set()
      texts = []
      wishes = new Map()
      everything = false
      noted = false
      holdEpoch = 0
      return taken
    },
  }
}

function unitsOf(texts: readonly TextNews[]): number {
  return texts.reduce(
    (sum, { pieces }) => sum + pieces.reduce((units, { text }) => units + text.length, 0),
    0,
  )
}
