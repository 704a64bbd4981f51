/** The outputs of a run: status messages, progress, artifacts and usage. Also finds the artifacts that a message refers to. */

import { LullError } from '../../../core/errors.ts'
import type { Artifact, Message, Part, PartInput } from '../../../core/messages/message.ts'
import type { JournalRecord, UsageReport } from '../../../core/records.ts'
import type { AgentTask, Answer, ArtifactInput, ArtifactStream } from '../../author/agent-task.ts'
import type { ConversationArtifact } from '../../author/conversation.ts'
import { artifactFacts, part, usageInput } from '../../input/inputs.ts'
import { parse } from '../../input/parse.ts'
import { checkBudgets } from '../admission.ts'
import { agentCall, type FollowUp, HandedIn, handInRecord } from '../operation-runner.ts'
import { recordOf } from '../replay/journal.ts'
import type { RunCore } from '../run-core.ts'

/**
 * Writes a journaled record that has no effect outside of the task.
 * @param make makes the record when it may be written
 * @param read makes the value for the caller from the record
 * @param after follows when the record is durable, before the caller has the value
 * @param before records that come before it in the same commit
 */
export type WriteOutput = <T extends JournalRecord['type'], V>(
  type: T,
  key: string,
  make: () => JournalRecord & { readonly type: T },
  read: (record: JournalRecord & { readonly type: T }) => V,
  after?: FollowUp,
  before?: () => readonly JournalRecord[],
) => Promise<V>

export interface Outputs extends Artifacts {
  say(content: string | readonly PartInput[]): Promise<void>
  progress(fraction: number, text?: string): Promise<void>
  usage(usage: UsageReport): Promise<void>
  readonly write: WriteOutput
}

export function createOutputs(core: RunCore): Outputs {
  const { host } = core

  const write: WriteOutput = (type, key, make, read, after, before) => {
    const scope = core.scope
    return core.perform({
      key,
      isTaskOnly: true,
      replay: (entry) => {
        const record = recordOf(entry, type)
        return record && { value: read(record) }
      },
      live: async () => {
        const handed = await handInRecord(core, scope, make, before)
        return HandedIn.record(handed, () => read(handed.record), after)
      },
    })
  }

  const done = (): void => undefined

  function say(content: string | readonly PartInput[]): Promise<void> {
    const parts = readParts(content)
    const key = core.key('say')
    const message = () => makeAgentMessage(core, host.ids.uuid(), parts)
    return write('said', key, () => ({ type: 'said', key, message: message() }), done)
  }

  function progress(fraction: number, text?: string): Promise<void> {
    if (!(fraction >= 0 && fraction <= 1)) {
      throw new LullError('INVALID_INPUT', { path: 'fraction', problem: 'must be from 0 to 1' })
    }
    const parts = text === undefined ? undefined : readParts(text)
    const key = core.key('progress')
    const message = () =>
      parts === undefined ? {} : { message: makeAgentMessage(core, host.ids.uuid(), parts) }
    return write('said', key, () => ({ type: 'said', key, progress: fraction, ...message() }), done)
  }

  function usage(given: UsageReport): Promise<void> {
    const key = core.key('usage')
    const used = parse(usageInput, given, 'usage')
    const make = () => ({ type: 'usage', key, usage: used }) as const
    return write('usage', key, make, done, () => checkBudgets(core))
  }

  return { say, progress, usage, write, ...createArtifacts(core, write) }
}

type ArtifactRecord = JournalRecord & { readonly type: 'artifact' }

/** Complete artifacts, and streams that are appended to. */
interface Artifacts {
  artifact(input: ArtifactInput, options?: { append?: boolean; last?: boolean }): Promise<Artifact>
  stream(name: string, about?: Omit<ArtifactInput, 'name'>): ArtifactStream
}

function createArtifacts(core: RunCore, write: WriteOutput): Artifacts {
  const { host } = core

  function artifact(
    input: ArtifactInput,
    options: { append?: boolean; last?: boolean } = {},
  ): Promise<Artifact> {
    const { append = false, last = true } = options
    if (append) notInStep('an artifact that is appended to')
    const { artifactId: given, ...content } = contentOf(input)
    const key = core.key('artifact', content.name)
    const make = (): ArtifactRecord => {
      const artifactId = given ?? (append ? idOf(content.name) : undefined) ?? host.ids.uuid()
      return { type: 'artifact', key, artifact: { artifactId, ...content }, append, last }
    }
    return write('artifact', key, make, (record) => record.artifact)
  }

  /** Appending inside a step is refused: a step may run again, and the chunks of two attempts must not mix. */
  function notInStep(what: string): void {
    if (core.scope.inside === undefined) return
    const problem = `${what} cannot be used inside a step, which may run again; write to the step's own stream(name)`
    throw new LullError('INVALID_INPUT', { path: '', problem })
  }

  /** A name stands for the newest artifact of this task with that name. */
  function idOf(name: string | undefined): string | undefined {
    return core.task.artifacts.findLast((known) => known.name === name)?.artifactId
  }

  function stream(name: string, about: Omit<ArtifactInput, 'name'> = {}): ArtifactStream {
    notInStep('task.artifactStream')
    const artifactId = about.artifactId ?? core.value('stream', host.ids.uuid)
    const { text: _text, data: _data, base64: _base64, parts: _parts, ...facts } = about
    let written = 0
    const chunk = (parts: readonly PartInput[], last: boolean): Promise<Artifact> =>
      artifact({ ...facts, name, artifactId, parts }, { append: written++ > 0, last })
    return {
      artifactId,
      write: (content) =>
        agentCall(async () => {
          await chunk([typeof content === 'string' ? { text: content } : content], false)
        }),
      close: () =>
        agentCall(async () => {
          const closed = await chunk([{ text: '' }], true)
          return core.task.artifacts.find((known) => known.artifactId === artifactId) ?? closed
        }),
    }
  }

  return { artifact, stream }
}

/** The artifact that a run returns. Undefined if it is already recorded. */
export function makeLastArtifact(core: RunCore, input: ArtifactInput): ArtifactRecord | undefined {
  const { artifactId = core.host.ids.uuid(), ...content } = contentOf(input)
  const key = core.key('artifact', content.name)
  if (core.journal.get(key) !== undefined) return undefined
  return { type: 'artifact', key, artifact: { artifactId, ...content }, append: false, last: true }
}

function artifactParts(input: ArtifactInput): readonly Part[] {
  const facts = input.mediaType === undefined ? undefined : { mediaType: input.mediaType }
  const parts: PartInput[] = []
  if (input.text !== undefined) parts.push({ text: input.text, ...facts })
  if (input.data !== undefined) parts.push({ data: input.data, ...facts })
  if (input.base64 !== undefined) {
    const filename = input.name === undefined ? undefined : { filename: input.name }
    parts.push({ raw: input.base64, ...facts, ...filename })
  }
  for (const part of input.parts ?? []) parts.push(part)
  if (parts.length === 0) {
    const problem = 'needs text, data, base64 or parts'
    throw new LullError('INVALID_INPUT', { path: 'artifact', problem })
  }
  return readParts(parts)
}

/** Checks an artifact before anything is recorded. @throws LullError `INVALID_INPUT` */
function contentOf(input: ArtifactInput): Omit<Artifact, 'artifactId'> & { artifactId?: string } {
  const { artifactId, name, description, metadata } = parse(artifactFacts, input, 'artifact')
  return {
    ...(artifactId === undefined ? {} : { artifactId }),
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    parts: artifactParts(input),
    ...(metadata === undefined ? {} : { metadata }),
  }
}

/** A text becomes one text part. Given parts are checked. @throws LullError `INVALID_INPUT` */
export function readParts(content: string | readonly PartInput[]): readonly Part[] {
  if (typeof content === 'string') return [{ text: content }]
  if (!Array.isArray(content)) {
    const problem = 'must be a text or a list of parts'
    throw new LullError('INVALID_INPUT', { path: 'parts', problem })
  }
  return content.map((one, index) => {
    const text = textAlone(one)
    return text === undefined ? parse(part, one, `parts.${index}`) : { text }
  })
}

/**
 * The text of a part with no other member. Most parts are so, and need no parsing. The member is read once: it may be a
 * getter.
 */
function textAlone(one: unknown): string | undefined {
  if (typeof one !== 'object' || one === null) return undefined
  for (const key in one) if (key !== 'text') return undefined
  const { text } = one as { readonly text?: unknown }
  return typeof text === 'string' ? text : undefined
}

export function makeAgentMessage(
  core: RunCore,
  messageId: string,
  parts: readonly Part[],
): Message {
  const { id, contextId } = core.task
  return { messageId, role: 'ROLE_AGENT', parts, taskId: id, contextId }
}

/**
 * Finds the artifact that a message refers to. Looks in this order: `referenceArtifacts` of a part; an artifact id or name in the text; a file part with the name of
 * an artifact; the only candidate. Asks the user if there are several candidates and none is named.
 */
export async function pickArtifact(
  task: AgentTask,
  name: string | undefined,
): Promise<ConversationArtifact | undefined> {
  const candidates = candidatesFor(task, name)
  const named = task.referenced.artifacts[0] ?? mentioned(candidates, task.text, task.message)
  if (named !== undefined) return named
  if (candidates.length <= 1) return candidates[0]
  const list = candidates.map(
    ({ artifact }) => `${artifact.name ?? 'unnamed'} (${artifact.artifactId})`,
  )
  for (;;) {
    const answer: Answer = await task.ask(`Which artifact do you mean? ${list.join(', ')}`)
    const picked =
      referredTo(candidates, answer) ?? mentioned(candidates, answer.text, answer.message)
    if (picked !== undefined) return picked
  }
}

/** The newest artifact of each name, of the tasks that the message refers to, or of the whole conversation. */
function candidatesFor(task: AgentTask, name: string | undefined): readonly ConversationArtifact[] {
  const referred = task.referenced.tasks.flatMap((one) =>
    one.artifacts.map((artifact) => ({ taskId: one.id, artifact })),
  )
  const from = referred.length > 0 ? referred : task.context.artifacts
  const wanted = from.filter(({ artifact }) => name === undefined || artifact.name === name)
  const newest = new Map(wanted.map((one) => [one.artifact.name ?? one.artifact.artifactId, one]))
  return [...newest.values()]
}

function mentioned(
  candidates: readonly ConversationArtifact[],
  text: string,
  message: AgentTask['message'],
): ConversationArtifact | undefined {
  const files = new Set(message.parts.flatMap((part) => part.filename ?? []))
  const hits = candidates.filter(
    ({ artifact: { artifactId, name } }) =>
      text.includes(artifactId) || (name !== undefined && (text.includes(name) || files.has(name))),
  )
  return hits.length === 1 ? hits[0] : undefined
}

function referredTo(
  candidates: readonly ConversationArtifact[],
  answer: Answer,
): ConversationArtifact | undefined {
  const list = answer.message.parts.flatMap((part) => artifactReferences(part))
  return candidates.find((one) => list.some((ref) => ref.artifactId === one.artifact.artifactId))
}

interface ArtifactReference {
  readonly artifactId: string
  /** Absent if any task of the conversation may have the artifact. */
  readonly taskId?: string
}

/**
 * Reads `{referenceArtifacts: [{artifactId, taskId}, …]}` or `{artifactId, taskId}`. Other metadata has no references.
 */
export function artifactReferences({ metadata }: Part): readonly ArtifactReference[] {
  if (metadata === undefined) return []
  const { referenceArtifacts: list } = metadata
  const given: readonly unknown[] = Array.isArray(list) ? list : [metadata]
  return given.flatMap((one) => (isReference(one) ? [one] : []))
}

function isReference(value: unknown): value is ArtifactReference {
  if (typeof value !== 'object' || value === null) return false
  const { artifactId, taskId } = value as { artifactId?: unknown; taskId?: unknown }
  return typeof artifactId === 'string' && (taskId === undefined || typeof taskId === 'string')
}
