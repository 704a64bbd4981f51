/**
 * Readers of live text under any interleaving (T1 to T5 of core/messages/live-text.ts, Q1 to Q4 of engine/streams/log-reader.ts): writes,
 * publications, attempts that end or are recorded, crashes, and readers that join, are slow, lose frames and come back
 * with the id of the last frame they got.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  afterChunk,
  afterRecord,
  recordedChunk,
  type TextChunk,
} from '../../../core/messages/live-text.ts'
import type { LogRecord } from '../../../core/records.ts'
import type { Task } from '../../../core/task.ts'
import { createLiveTexts, type LiveTexts } from '../../../engine/streams/live-texts.ts'
import type { ReaderUpdate, TaskReader } from '../../../engine/streams/log-reader.ts'
import { createSubscriptions, type Subscriptions } from '../../../engine/streams/subscriptions.ts'
import { afterSnapshot, type Cursor, cursorId, readCursor } from './frames.ts'

fc.configureGlobal({ seed: 1312 })

const taskId = 't'
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** A step with one stream. The letters of its text tell its attempts apart. */
interface Step {
  readonly artifactId: string
  attempts: number
  text: string
  open: boolean
  published: string
  recorded: string | undefined
}

function createModel() {
  const log: LogRecord[] = []
  const steps: readonly Step[] = ['A', 'B'].map((artifactId) => ({
    artifactId,
    attempts: 0,
    text: '',
    open: false,
    published: '',
    recorded: undefined,
  }))
  let live: LiveTexts
  let subscriptions: Subscriptions
  const said = (): LogRecord => ({ type: 'said', key: 'k', seq: log.length + 1, at: 0 })

  function boot(): void {
    live = createLiveTexts()
    const records = async (_id: string, after: number, limit: number) => {
      await new Promise((resolve) => setImmediate(resolve))
      return log.slice(after, after + limit)
    }
    subscriptions = createSubscriptions(records, () => log.length, live)
    for (const step of steps) Object.assign(step, { open: false, text: '', published: '' })
  }

  function append(record: LogRecord): void {
    log.push(record)
    subscriptions.publish({ id: taskId } as Task, [record], { id: taskId } as Task)
  }

  const textOf = (step: Step, phase: 'open' | 'recording') => ({
    taskId,
    artifactId: step.artifactId,
    name: 'out',
    attempt: `attempt-${step.attempts}`,
    text: phase === 'open' ? step.published : step.text,
    phase,
  })

  boot()
  return {
    log,
    steps,
    boot,
    append: () => append(said()),
    end: () =>
      append({ type: 'canceled', actor: { kind: 'client', id: 'x' }, seq: log.length + 1, at: 0 }),
    follow: ({ seq, shown = [] }: Cursor, ended: boolean): TaskReader =>
      subscriptions.follow(
        { id: taskId, state: ended ? 'canceled' : 'working', run: undefined, version: log.length },
        seq - 1,
        shown,
      ),
    write(step: Step, length: number): void {
      if (step.recorded !== undefined) return
      if (!step.open) {
        step.attempts++
        Object.assign(step, { open: true, text: '', published: '' })
      }
      step.text += String.fromCharCode(96 + (step.attempts % 26)).repeat(length)
    },
    publish(step: Step): void {
      if (!step.open || step.published === step.text) return
      step.published = step.text
      live.publish(textOf(step, 'open'))
    },
    discard(step: Step): void {
      if (!step.open) return
      live.remove(textOf(step, 'open'))
      Object.assign(step, { open: false, text: '', published: '' })
    },
    record(step: Step, early: boolean): void {
      if (!step.open) return
      const { attempt, artifactId, text } = textOf(step, 'recording')
      live.publish(textOf(step, 'recording'))
      const artifact = { artifactId, name: 'out', parts: [{ text }] }
      const record: LogRecord = {
        type: 'artifact',
        key: 'k',
        artifact,
        append: false,
        last: true,
        attempt,
        seq: log.length + 1,
        at: 0,
      }
      // The store may show a record before it is published.
      if (early) {
        log.push(record)
        const then = { subscriptions, live }
        setImmediate(() => {
          then.subscriptions.publish({ id: taskId } as Task, [record], { id: taskId } as Task)
          then.live.remove({ taskId, artifactId, attempt })
        })
      } else {
        append(record)
        live.remove({ taskId, artifactId, attempt })
      }
      Object.assign(step, { open: false, published: '', recorded: text })
    },
  }
}

type Model = ReturnType<typeof createModel>

/** A client that folds what it gets and knows the id of its last frame. */
function createReader(model: Model) {
  const held = new Map<string, string>()
  let id = cursorId(afterSnapshot(model.log.length))
  for (const { artifactId, recorded } of model.steps) {
    if (recorded !== undefined) held.set(artifactId, recorded)
  }
  let reading: TaskReader | undefined
  let arrived: { readonly delivery: ReaderUpdate } | undefined
  let ended = false

  function fold({ artifact, append }: TextChunk): void {
    const [part] = artifact.parts
    const text = part !== undefined && 'text' in part ? part.text : ''
    held.set(artifact.artifactId, append ? (held.get(artifact.artifactId) ?? '') + text : text)
    // T1, T2: one attempt, never two.
    expect(new Set(held.get(artifact.artifactId)).size).toBeLessThanOrEqual(1)
  }

  function connect(over: boolean): void {
    reading?.close()
    arrived = undefined
    const from = readCursor(id)
    if (from === undefined) throw new Error(`not a cursor: ${id}`)
    reading = model.follow(from, over)
    ask()
  }

  function ask(): void {
    const mine = reading
    Promise.resolve(mine?.next()).then(
      (delivery) => {
        if (mine === reading) arrived = { delivery }
      },
      () => undefined,
    )
  }

  /** @param frames so many of the delivery arrive, then the connection is lost */
  function take(frames: number): void {
    if (arrived === undefined || reading === undefined) return
    const { delivery } = arrived
    arrived = undefined
    if (delivery === undefined) {
      ended = true
      return
    }
    let shown = reading.shown
    if ('chunks' in delivery) {
      for (const chunk of delivery.chunks.slice(0, frames)) {
        fold(chunk)
        shown = afterChunk(shown, chunk)
        id = cursorId({ ...afterSnapshot(delivery.after), shown })
      }
    } else {
      for (const record of delivery.records.slice(0, frames)) {
        const chunk = recordedChunk(shown, record)
        if (chunk !== undefined) fold(chunk)
        shown = afterRecord(shown, record)
        id = cursorId({ ...afterSnapshot(record.seq), shown })
      }
    }
    ask()
  }

  connect(false)
  return {
    connect,
    take,
    lose: () => {
      take(1)
      connect(false)
    },
    get waiting() {
      return arrived !== undefined
    },
    get ended() {
      return ended
    },
    text: ({ artifactId }: Step) => held.get(artifactId) ?? '',
  }
}

const ops = [
  'write',
  'publish',
  'show',
  'again',
  'discard',
  'record',
  'early',
  'append',
  'crash',
  'join',
  'take',
  'lose',
  'settle',
] as const
const command = fc.tuple(
  fc.constantFrom(...ops, 'show', 'again', 'take', 'settle', 'settle'),
  fc.nat({ max: 3 }),
  fc.integer({ min: 1, max: 5 }),
)

it('T1 to T5, Q3, Q4: every reader holds the latest attempt, in the end what was recorded', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 60 }), async (commands) => {
      const model = createModel()
      model.append()
      const readers = [createReader(model), createReader(model)]
      const drain = async (): Promise<void> => {
        for (let round = 0; round < 50; round++) {
          await settle()
          const busy = readers.filter((reader) => reader.waiting)
          if (busy.length === 0) return
          for (const reader of busy) reader.take(Number.POSITIVE_INFINITY)
        }
      }
      for (const [op, which, length] of commands) {
        const step = model.steps[which % 2] as Step
        const reader = readers[which % readers.length]
        if (op === 'write') model.write(step, length)
        else if (op === 'show') {
          model.write(step, length)
          model.publish(step)
        } else if (op === 'again') {
          model.discard(step)
          model.write(step, length)
          model.publish(step)
        } else if (op === 'publish') model.publish(step)
        else if (op === 'discard') model.discard(step)
        else if (op === 'record' || op === 'early') {
          model.record(step, op === 'early')
        } else if (op === 'append') model.append()
        else if (op === 'crash') {
          model.boot()
          for (const one of readers) one.connect(false)
        } else if (op === 'join' && readers.length < 4) readers.push(createReader(model))
        else if (op === 'take') reader?.take(Number.POSITIVE_INFINITY)
        else if (op === 'lose') reader?.lose()
        else await settle()
      }
      await drain()
      for (const one of model.steps) {
        const latest = one.recorded ?? one.published
        for (const reader of readers) expect(reader.text(one)).toBe(latest)
      }
      model.end()
      await drain()
      for (const one of model.steps) {
        for (const reader of readers) expect(reader.text(one)).toBe(one.recorded ?? '')
      }
      for (const reader of readers) expect(reader.ended).toBe(true)
    }),
    { numRuns: 600 },
  )
})
