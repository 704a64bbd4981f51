/** A client of A2A that folds the artifacts it is sent, as clients that know nothing of Lull do. */
import { expect } from 'vitest'
import type { Worker } from '../support/worker-process.ts'

interface Artifact {
  readonly artifactId: string
  readonly parts: readonly { readonly text?: string }[]
}

interface Result {
  readonly task?: { readonly artifacts?: readonly Artifact[] }
  readonly artifactUpdate?: { readonly artifact: Artifact; readonly append?: boolean }
}

export interface TextReader {
  /** Reads until the stream ends, from where it was. @throws Died */
  read(worker: Worker, taskId: string): Promise<void>
  /** The text of each artifact. */
  texts(): readonly string[]
  /** How many updates of artifacts it got. */
  updates(): number
}

let readers = 0

export function createTextReader(): TextReader {
  const name = `reader ${++readers}`
  const texts = new Map<string, string>()
  let lastEventId: string | undefined
  let updates = 0

  function take(frame: string): void {
    lastEventId = /^id: (.*)$/m.exec(frame)?.[1] ?? lastEventId
    const { result = {} } = JSON.parse(/^data: (.*)$/m.exec(frame)?.[1] ?? '{}') as {
      readonly result?: Result
    }
    const { task, artifactUpdate: update } = result
    if (task !== undefined) {
      texts.clear()
      for (const artifact of task.artifacts ?? []) texts.set(artifact.artifactId, textOf(artifact))
    }
    if (update === undefined) return
    updates++
    const { artifactId } = update.artifact
    const before = update.append ? (texts.get(artifactId) ?? '') : ''
    texts.set(artifactId, before + textOf(update.artifact))
    for (const text of texts.values()) expect(writersOf(text).length).toBeLessThanOrEqual(1)
  }

  return {
    read(worker, taskId) {
      const stop = worker.listen((news) => {
        if (news.kind === 'frame' && news.reader === name) take(news.frame)
      })
      return worker.call('frames', name, taskId, lastEventId).finally(stop)
    },
    texts: () => [...texts.values()],
    updates: () => updates,
  }
}

export const textOf = ({ parts }: Artifact): string => parts.map(({ text = '' }) => text).join('')

/** The processes whose words are in the text. */
export function writersOf(text: string): readonly string[] {
  return [...new Set([...text.matchAll(/(\d+):/g)].map(([, pid]) => pid ?? ''))]
}
