/**
 * The published live text of every task that runs in this process. A reader is notified that a text
 * changed, and asks for the difference when it is ready (`nextChunks` in
 * `core/messages/live-text.ts`).
 *
 * A text is removed only after the record that contains it was published. Otherwise a reader would take recorded text
 * for discarded text.
 */
import type { LiveText } from '../../core/messages/live-text.ts'
import { TransientMap } from '../limits/transient-map.ts'

export interface LiveTexts {
  /** Replaces the published text of the same artifact. */
  publish(text: LiveText): void
  /**
   * Removes the text of an attempt that has ended. The text of another attempt of the same step
   * stays.
   */
  remove(text: Pick<LiveText, 'taskId' | 'artifactId' | 'attempt'>): void
  /** Removes all texts of a task whose run has ended. */
  clear(taskId: string): void
  of(taskId: string): readonly LiveText[]
  /** Calls `changed` with the id of each task whose texts change. */
  watch(changed: (taskId: string) => void): void
}

const none: readonly LiveText[] = []

export function createLiveTexts(): LiveTexts {
  const byTask = new TransientMap<readonly LiveText[]>()
  let changed: (taskId: string) => void = () => undefined

  function set(taskId: string, texts: readonly LiveText[]): void {
    if (texts.length === 0) byTask.delete(taskId)
    else byTask.set(taskId, texts)
    changed(taskId)
  }

  return {
    publish(text) {
      const others = byTask.get(text.taskId)?.filter((one) => one.artifactId !== text.artifactId)
      set(text.taskId, [...(others ?? none), text])
    },
    remove({ taskId, artifactId, attempt }) {
      const texts = byTask.get(taskId)
      if (texts === undefined) return
      const left = texts.filter((one) => one.artifactId !== artifactId || one.attempt !== attempt)
      if (left.length < texts.length) set(taskId, left)
    },
    clear(taskId) {
      if (byTask.has(taskId)) set(taskId, none)
    },
    of: (taskId) => byTask.get(taskId) ?? none,
    watch(callback) {
      changed = callback
    },
  }
}
