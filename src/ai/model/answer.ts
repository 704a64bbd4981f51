/**
 * One answer of a model in its recorded form. The form is the same whether the model streamed it or
 * not, so an agent may change from `generateText` to `streamText` while its tasks are running.
 *
 * Invariants (answer.test.ts):
 *  A1  an answer without `finish`, with an error part, or that ended because of an error, is no answer: the attempt failed;
 *  A2  deltas of one block are one block, and the last metadata of a block wins, because providers sign the last one;
 *  A3  an answer has no request, no headers and no raw chunks;
 *  A4  no two calls of an answer have the same id, because the SDK would take them for one;
 *  A5  a replayed answer gives the SDK the same content, order, usage and finish reason as the first time.
 */
import type { Json } from '../../core/values/json.ts'
import type { Content, Generated, ResponseFacts, StreamPart } from './any-model.ts'
import { fromJournal, toJournal } from './journal-value.ts'

export interface Answer extends Generated {
  readonly response: ResponseFacts
}

/** A block of text or of reasoning. */
interface Block extends Content {
  readonly type: 'text' | 'reasoning'
  text: string
  providerMetadata?: unknown
}

type Facts = Readonly<Record<string, unknown>>
type MutableAnswer = { -readonly [K in keyof Answer]?: Answer[K] }

/** Types of parts that a replay does not need. */
const transient = /^(?:raw|ping|tool-input-(?:start|delta|end))$/

/** Folds the parts of a stream into an answer. */
export class AnswerFold {
  readonly #content: Content[] = []
  readonly #open = new Map<string, Block>()
  #rest: MutableAnswer = {}

  /** Returns the text that the part adds to the answer. @throws the error of an error part (A1) */
  add(part: StreamPart): string {
    const { type, ...facts } = part
    const [, kind, phase] = /^(text|reasoning)-(start|delta|end)$/.exec(type) ?? []
    if (kind === 'text' || kind === 'reasoning') return this.#block(kind, phase ?? '', facts)
    if (transient.test(type)) return ''
    const special = specials[type]
    if (special === undefined) this.#content.push(part)
    else this.#rest = { ...this.#rest, ...special(facts) }
    return ''
  }

  /** @throws Error when the stream ended before the answer did (A1) */
  answer(): Answer {
    const { finishReason, usage, warnings = [], response = {}, ...rest } = this.#rest
    if (finishReason === undefined || unifiedReason(finishReason) === 'interrupted') {
      throw new Error('the stream of the model ended before its answer was complete')
    }
    return { content: this.#content, finishReason, usage, warnings, response, ...rest }
  }

  #block(type: Block['type'], phase: string, facts: Facts): string {
    const { delta, providerMetadata } = facts
    const key = `${type} ${String(facts['id'])}`
    let block = phase === 'start' ? undefined : this.#open.get(key)
    if (block === undefined) {
      block = { type, text: '' }
      this.#open.set(key, block)
      this.#content.push(block)
    }
    if (providerMetadata !== undefined) block.providerMetadata = providerMetadata
    if (typeof delta !== 'string') return ''
    block.text += delta
    return type === 'text' ? delta : ''
  }
}

/** Readers for parts that belong to the answer as a whole. */
const specials: Readonly<Record<string, (facts: Facts) => MutableAnswer>> = {
  'stream-start': ({ warnings }) => ({ warnings: Array.isArray(warnings) ? warnings : [] }),
  'response-metadata': (facts) => ({ response: facts }),
  finish: ({ finishReason, usage, providerMetadata }) => ({
    finishReason,
    usage,
    ...(providerMetadata === undefined ? {} : { providerMetadata }),
  }),
  error: ({ error }) => {
    throw error
  },
}

/** The finish reason: a string in V2 models, an object in later ones. */
function unifiedReason(reason: unknown): unknown {
  return typeof reason === 'object' && reason !== null && 'unified' in reason
    ? reason.unified
    : reason
}

/** The answer of a model that does not stream, without data that a replay does not need (A3). */
export function answerOf(generated: Generated): Answer {
  const { content, finishReason, usage, warnings, providerMetadata, response } = generated
  return {
    content,
    finishReason,
    usage,
    warnings,
    response: response ?? {},
    ...(providerMetadata === undefined ? {} : { providerMetadata }),
  }
}

/** @throws Error for half an answer, which the model ended with an error (A1) */
export function wholeAnswer(answer: Answer): Answer {
  if (unifiedReason(answer.finishReason) !== 'error') return answer
  throw new Error('the model ended its answer with an error')
}

/** The answer for the journal. */
export function recordOf(answer: Answer, filled: Required<ResponseFacts>): Json {
  const { id, timestamp, modelId } = answer.response
  const response = {
    id: id ?? filled.id,
    timestamp: timestamp ?? filled.timestamp,
    modelId: modelId ?? filled.modelId,
  }
  return toJournal({ ...answer, content: distinctCalls(answer.content), response })
}

/** Gives the second of two calls with the same id another id, because models repeat ids (A4). */
function distinctCalls(content: readonly Content[]): readonly Content[] {
  const uses = new Map<string, number>()
  return content.map((part) => {
    if (part.type !== 'tool-call' || !('toolCallId' in part)) return part
    const id = String(part.toolCallId)
    const use = (uses.get(id) ?? 0) + 1
    uses.set(id, use)
    return use === 1 ? part : { ...part, toolCallId: `${id}-${use}` }
  })
}

export function answerIn(record: Json): Answer {
  return fromJournal(record) as Answer
}

/** The stream parts that pass the answer to the SDK (A5). */
export function partsOf(answer: Answer): readonly StreamPart[] {
  const { content, finishReason, usage, warnings, providerMetadata, response } = answer
  const metadata = providerMetadata === undefined ? {} : { providerMetadata }
  const start: Facts & StreamPart = { type: 'stream-start', warnings }
  const about: Facts & StreamPart = { type: 'response-metadata', ...response }
  const finish: Facts & StreamPart = { type: 'finish', finishReason, usage, ...metadata }
  return [start, about, ...content.flatMap(contentParts), finish]
}

function contentParts(content: Content, index: number): readonly StreamPart[] {
  if (!isBlock(content)) return [content]
  const { type, text, providerMetadata } = content
  const facts = {
    id: String(index),
    ...(providerMetadata === undefined ? {} : { providerMetadata }),
  }
  const start: Facts & StreamPart = { type: `${type}-start`, ...facts }
  const delta: Facts & StreamPart = { type: `${type}-delta`, delta: text, ...facts }
  const end: Facts & StreamPart = { type: `${type}-end`, ...facts }
  return text === '' ? [start, end] : [start, delta, end]
}

function isBlock(content: Content): content is Block {
  return content.type === 'text' || content.type === 'reasoning'
}

/** The whole text of the answer. */
export function textOf(answer: Answer): string {
  return answer.content
    .map((content) => (isBlock(content) && content.type === 'text' ? content.text : ''))
    .join('')
}
