/** A reader of live text, and a step that the test writes texts to. For tests only. */
import {
  afterChunk,
  afterRecord,
  type TextChunk,
  type TextPosition,
} from '../../core/messages/live-text.ts'
import type { Agent } from '../author/agent.ts'
import type { StepContext } from '../author/agent-task.ts'
import type { ReaderUpdate, TaskReader } from '../streams/log-reader.ts'
import { alice, type Harness, running, signal } from './engine-harness.ts'

/** The frames one reader gets of one task, and the text they fold to. */
export interface Watcher {
  readonly frames: readonly Frame[]
  /** What the reader would name when it connects again. */
  readonly shown: () => readonly TextPosition[]
  close(): void
  /** By artifact; an artifact that was discarded is gone. */
  text(name?: string): string | undefined
}

export interface Frame {
  readonly text: string
  readonly append: boolean
  readonly state: TextChunk['state'] | undefined
}

export async function watcher(
  harness: Harness,
  id: string,
  shown: readonly TextPosition[] = [],
  after = 0,
): Promise<Watcher> {
  const reading: TaskReader = await harness.engine.follow(alice, id, { shown, after })
  const frames: Frame[] = []
  let held = shown
  const texts = new Map<string, { name: string | undefined; text: string }>()
  const take = ({
    artifact,
    append,
    state,
  }: Pick<TextChunk, 'artifact' | 'append'> & Partial<TextChunk>) => {
    const { artifactId, name, parts } = artifact
    const text = parts.map((part) => ('text' in part ? part.text : '')).join('')
    frames.push({ text, append, state })
    const before = append ? (texts.get(artifactId)?.text ?? '') : ''
    if (state === 'discarded') texts.delete(artifactId)
    else texts.set(artifactId, { name, text: before + text })
  }
  const follow = async (): Promise<void> => {
    for (;;) {
      const given: ReaderUpdate = await reading.next()
      if (given === undefined) return
      if ('chunks' in given) {
        given.chunks.forEach(take)
        held = given.chunks.reduce(afterChunk, held)
      } else {
        held = given.records.reduce(afterRecord, held)
        for (const record of given.records) {
          if (record.type !== 'artifact') continue
          const held = reading.shown.find((one) => one.attempt === record.attempt)
          const [part] = record.artifact.parts
          const whole = part !== undefined && 'text' in part ? part.text : ''
          const parts = [{ text: whole.slice(held?.length ?? 0) }]
          take({
            artifact: { ...record.artifact, parts },
            append: held !== undefined,
            state: 'recorded',
          })
        }
      }
    }
  }
  follow().catch(() => undefined)
  return {
    frames,
    shown: () => held,
    close: () => reading.close(),
    text: (name = 'out') => [...texts.values()].find((one) => one.name === name)?.text,
  }
}

export interface Stage {
  readonly agent: Agent
  readonly attempts: readonly { readonly step: StepContext; end(error?: Error): void }[]
}

/** One step that hands its context to the test and ends when told. */
export function stage(options: { readonly retry?: { attempts: number } } = {}): Stage {
  const attempts: { step: StepContext; end: (error?: Error) => void }[] = []
  const agent = running(async (task) => {
    await task.step(
      'talk',
      async (step) => {
        const over = signal()
        const end = (error?: Error) => (error === undefined ? over.fire() : over.fail(error))
        step.signal.addEventListener('abort', () => over.fail(step.signal.reason as Error))
        attempts.push({ step, end })
        await over.promise
        return 'done'
      },
      options,
    )
  })
  return { agent, attempts }
}
