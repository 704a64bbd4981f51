/**
 * The transient channel: the live text of every task that runs in this process, as last published. Readers are told that
 * something changed and take what they need when they have room (`core/live-text.ts` says what that is).
 *
 * Another transport (several processes, one database) replaces this file alone. It keeps one rule: a text is removed
 * after the record that holds it was published, so that no reader takes recorded text for discarded.
 */
import type { LiveText } from '../core/live-text.ts'
import { TransientMap } from './transient-map.ts'

export interface LiveTexts {
  /** In place of what was published of the same artifact before. */
  publish(text: LiveText): void
  /** The attempt is over, recorded or not. A text that another attempt has published meanwhile stays. */
  remove(text: Pick<LiveText, 'taskId' | 'artifactId' | 'attempt'>): void
  /** Nothing runs for the task here any more. */
  clear(taskId: string): void
  of(taskId: string): readonly LiveText[]
  /** Calls back with the id of a task whose texts have changed. */
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
