/**
 * The streams of one attempt of a step. Text is published as live text at once, and then about ten times a second. It is
 * written to the log in the commit of the step's record.
 *
 *   open ──recording()──▶ recording ──end()──▶ over
 *     └──────────────end()─────────────────────┘
 *
 * Invariants (step-streams.test.ts):
 *  S1  the first chunk is published when it is written, later ones within `FLUSH_MS` of it;
 *  S2  writing makes no records, however often: each stream is one record when its step is;
 *  S3  writes to an attempt that is over are refused;
 *  S4  a name stands for one stream of the attempt and, across attempts, for one artifact;
 *  S5  streams and result together keep to the limit of a step's result.
 */
import { LullError } from '../../../core/errors.ts'
import { wholeCharacters } from '../../../core/messages/text-news.ts'
import { sha256 } from '../../../core/receipts/sha256.ts'
import type { JournalRecord } from '../../../core/records.ts'
import type { StepStream } from '../../author/agent-task.ts'
import type { RunCore } from '../run-core.ts'

const FLUSH_MS = 100

type ArtifactRecord = JournalRecord & { readonly type: 'artifact' }

interface Stream {
  readonly name: string
  readonly artifactId: string
  text: string
  published: number
  /** Set for `FLUSH_MS` after text was published. */
  cancelFlush: (() => void) | undefined
}

const noStreams: ReadonlyMap<string, Stream> = new Map()

/** A class: every step has an instance, and most steps write nothing to it. */
export class AttemptStreams {
  readonly #core: RunCore
  readonly #step: string
  readonly #key: string
  #phase: 'open' | 'recording' | 'over' = 'open'
  #attempt = ''
  #streams: Map<string, Stream> | undefined
  #bytes = 0

  /** @param key the key of the step, under which the keys of its streams are */
  constructor(core: RunCore, step: string, key: string) {
    this.#core = core
    this.#step = step
    this.#key = key
  }

  /** How many bytes were written to all streams. */
  get bytes(): number {
    return this.#bytes
  }

  open(name: string): StepStream {
    if (typeof name !== 'string' || name === '') {
      throw new LullError('INVALID_INPUT', { path: 'stream', problem: 'must have a name' })
    }
    this.#streams ??= this.#begin()
    const stream = this.#streams.get(name) ?? this.#create(name)
    this.#streams.set(name, stream)
    return { artifactId: stream.artifactId, write: (text) => this.#write(stream, text) }
  }

  /** The records for the commit of the step's record. Later writes are refused. */
  recording(): readonly ArtifactRecord[] {
    if (this.#phase !== 'open') return []
    this.#phase = 'recording'
    const written = [...(this.#streams ?? noStreams).values()].filter(({ text }) => text !== '')
    for (const stream of written) {
      stream.cancelFlush?.()
      this.#show(stream, stream.text)
    }
    return written.map(({ name, artifactId, text }) => ({
      type: 'artifact',
      key: `${this.#key}/stream:${name}`,
      artifact: { artifactId, name, parts: [{ text }] },
      append: false,
      last: true,
      attempt: this.#attempt,
    }))
  }

  /** The attempt is recorded or discarded. */
  end(): void {
    if (this.#phase === 'over') return
    this.#phase = 'over'
    const { taskId, host } = this.#core
    for (const { artifactId, cancelFlush } of (this.#streams ?? noStreams).values()) {
      cancelFlush?.()
      host.live.remove({ taskId, artifactId, attempt: this.#attempt })
    }
  }

  #begin(): Map<string, Stream> {
    this.#attempt = sha256(this.#core.host.ids.uuid()).slice(0, 12)
    return new Map()
  }

  #create(name: string): Stream {
    const { task } = this.#core
    const place = `${task.id}/${task.journal.generation}/${this.#key}/stream:${name}`
    const artifactId = sha256(place).slice(0, 32)
    return { name, artifactId, text: '', published: 0, cancelFlush: undefined }
  }

  #write(stream: Stream, text: string): void {
    const step = this.#step
    if (this.#phase !== 'open' || this.#core.dead) {
      const problem = `its attempt is over: nothing can be written to the stream "${stream.name}"`
      throw new LullError('STEP_RESULT', { step, problem })
    }
    if (typeof text !== 'string') {
      throw new LullError('INVALID_INPUT', { path: 'text', problem: 'must be a text' })
    }
    const bytes = this.#bytes + Buffer.byteLength(text)
    const limit = this.#core.host.limits.stepResultBytes
    if (bytes > limit) {
      const problem = `its streams have more than ${limit} bytes; write less, raise stepResultBytes, or use task.artifactStream outside of steps`
      throw new LullError('STEP_RESULT', { step, problem })
    }
    this.#bytes = bytes
    stream.text += text
    if (stream.cancelFlush === undefined) this.#flush(stream)
  }

  #flush(stream: Stream): void {
    stream.cancelFlush = undefined
    // The first half of a surrogate pair is published together with its second half.
    const length = wholeCharacters(stream.text)
    if (this.#phase !== 'open' || this.#core.dead || length === stream.published) return
    stream.published = length
    this.#show(stream, stream.text.slice(0, length))
    stream.cancelFlush = this.#core.host.clock.after(FLUSH_MS, () => this.#flush(stream))
  }

  #show({ artifactId, name }: Stream, text: string): void {
    if (this.#phase === 'over') return
    const { taskId, host } = this.#core
    const { live } = host
    live.publish({ taskId, artifactId, name, attempt: this.#attempt, text, phase: this.#phase })
  }
}
