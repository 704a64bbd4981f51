/** Whole tasks as JSON. A task never changes, its next version is another object: who asks again gets the same text. */
import type { Task } from '../../core/task.ts'
import { type Codec, wholeTask } from './codec/codec.ts'

export type TaskTexts = (codec: Codec, task: Task) => string

/** Longer ones are not kept: they would double what a large task takes, for a copy that is cheap beside sending it. */
const LONGEST = 65_536

/** Texts go when their tasks leave memory. */
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
