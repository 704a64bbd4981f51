/** Collects changes until they are sent. */
import type { Changes, TextChange } from '../../ports/store/cluster.ts'

export interface Outbox {
  readonly add: (changes: Changes) => void
  /** Resolves when there is something to send, or the signal aborts. */
  filled(until: AbortSignal): Promise<void>
  /** Everything that was collected. The outbox is empty afterwards. */
  take(): Changes
}

/** More tasks than that are told as "everything". */
const TASKS = 500
/** More texts than that are dropped. They are hints, and the next one has the whole text. */
const TEXTS = 100

export function createOutbox(): Outbox {
  let tasks = new Map<string, number>()
  let agents = new Set<string>()
  let texts: TextChange[] = []
  let everything = false
  let wake: () => void = () => undefined

  const isEmpty = (): boolean =>
    tasks.size === 0 && agents.size === 0 && texts.length === 0 && !everything

  return {
    add(changes) {
      for (const { id, version } of changes.tasks ?? []) {
        tasks.set(id, Math.max(version, tasks.get(id) ?? 0))
      }
      for (const agent of changes.readyAgents ?? []) agents.add(agent)
      texts.push(...(changes.texts ?? []))
      if (texts.length > TEXTS) texts = texts.slice(-TEXTS)
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
        ...(everything ? { everything: true as const } : {}),
      }
      tasks = new Map()
      agents = new Set()
      texts = []
      everything = false
      return taken
    },
  }
}
