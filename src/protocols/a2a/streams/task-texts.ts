/** Caches whole tasks as JSON. A task object is immutable, so its text can be reused until the next version. */
import type { Task } from '../../../core/task.ts'
import { type Codec, wholeTask } from '../codec/codec.ts'

export type TaskTexts = (codec: Codec, task: Task) => string

/**
 * Longer texts are not cached: they would double the memory of large tasks, while rendering them
 * costs little compared to sending.
 */
const LONGEST = 65_536

/** Creates the cache. A text is freed together with its task. */
export function createTaskTexts(): TaskTexts {
  const byCodec = new Map<string, WeakMap<Task, string>>()

  function textsOf({ name }: Codec): WeakMap<Task, string> {
    const known = byCodec.get(name) ?? new WeakMap<Task, string>()
    byCodec.set(name, known)
    return known
  }

  return (codec, task) => {
    const texts = textsOf(codec)
    const known = texts.get(task)
    if (known !== undefined) return known
    const text = JSON.stringify(codec.task(task, wholeTask))
    if (text.length <= LONGEST) texts.set(task, text)
    return text
  }
}
