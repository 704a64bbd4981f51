/** What a run tells: status messages, progress, artifacts, usage. */
import { LullError } from '../../core/errors.ts'
import type { Artifact, Part } from '../../core/message.ts'
import type { JournalRecord, UsageReport } from '../../core/records.ts'
import type { ArtifactInput, ArtifactStream } from '../agent-task.ts'
import { artifactFacts, usageInput } from '../inputs.ts'
import { parse } from '../parse.ts'
import { agentCall } from './agent-call.ts'
import type { RunCore } from './core.ts'
import { gatedRecord } from './gated-record.ts'
import { agentMessage, partsOf } from './parts.ts'

type ArtifactRecord = JournalRecord & { readonly type: 'artifact' }

export interface Outputs {
  say(content: string | readonly Part[]): Promise<void>
  progress(fraction: number, text?: string): Promise<void>
  artifact(input: ArtifactInput, options?: { append?: boolean; last?: boolean }): Promise<Artifact>
  stream(name: string, about?: Omit<ArtifactInput, 'name'>): ArtifactStream
  usage(usage: UsageReport): Promise<void>
  /** A journaled record of any kind, made when it may be written, and what it gives. */
  tell<R extends JournalRecord, T>(key: string, make: () => R, read: (record: R) => T): Promise<T>
}

export function createOutputs(core: RunCore): Outputs {
  const { host } = core

  function tell<R extends JournalRecord, T>(
    key: string,
    make: () => R,
    read: (record: R) => T,
  ): Promise<T> {
    const scope = core.scope
    return core.perform<T>({
      key,
      harmless: true,
      replay: (entry) =>
        entry.kind === 'record' ? { value: read(entry.record as unknown as R) } : undefined,
      live: async () => {
        const { seq, record } = await gatedRecord(core, scope, make)
        return { seq, settle: () => read(record) }
      },
    })
  }

  const done = (): void => undefined

  function say(content: string | readonly Part[]): Promise<void> {
    const parts = partsOf(content)
    const key = core.key('say')
    const make = () =>
      ({ type: 'said', key, message: agentMessage(core, host.ids.uuid(), parts) }) as const
    return tell(key, make, done)
  }

  function progress(fraction: number, text?: string): Promise<void> {
    if (!(fraction >= 0 && fraction <= 1)) {
      throw new LullError('INVALID_INPUT', { path: 'fraction', problem: 'must be from 0 to 1' })
    }
    const parts = text === undefined ? undefined : partsOf(text)
    const key = core.key('progress')
    const message = (): Partial<JournalRecord & { type: 'said' }> =>
      parts === undefined ? {} : { message: agentMessage(core, host.ids.uuid(), parts) }
    return tell(key, () => ({ type: 'said', key, progress: fraction, ...message() }) as const, done)
  }

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
    return tell(key, make, (record) => record.artifact)
  }

  /** A step may run again, and what one attempt appended must not mix with what another one does. */
  function notInStep(what: string): void {
    if (core.scope.inside === undefined) return
    const problem = `${what} cannot be used inside a step, which may run again; write to the step's own stream(name)`
    throw new LullError('INVALID_INPUT', { path: '', problem })
  }

  /** Appending by name goes to the newest artifact of this task that bears it. */
  function idOf(name: string | undefined): string | undefined {
    return core.task.artifacts.findLast((known) => known.name === name)?.artifactId
  }

  function stream(name: string, about: Omit<ArtifactInput, 'name'> = {}): ArtifactStream {
    notInStep('task.artifactStream')
    const artifactId = about.artifactId ?? core.value('stream', host.ids.uuid)
    const { text: _text, data: _data, base64: _base64, parts: _parts, ...rest } = about
    let written = 0
    const chunk = (parts: readonly Part[], last: boolean): Promise<Artifact> =>
      artifact({ ...rest, name, artifactId, parts }, { append: written++ > 0, last })
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

  function usage(given: UsageReport): Promise<void> {
    const used = parse(usageInput, given, 'usage')
    const key = core.key('usage')
    return tell(key, () => ({ type: 'usage', key, usage: used }) as const, done)
  }

  return { say, progress, artifact, stream, usage, tell }
}

/** The artifact a run ends with; undefined where it is recorded already. */
export function lastArtifact(core: RunCore, input: ArtifactInput): ArtifactRecord | undefined {
  const { artifactId = core.host.ids.uuid(), ...content } = contentOf(input)
  const key = core.key('artifact', content.name)
  if (core.journal.get(key) !== undefined) return undefined
  return { type: 'artifact', key, artifact: { artifactId, ...content }, append: false, last: true }
}

function artifactParts(input: ArtifactInput): readonly Part[] {
  const facts = input.mediaType === undefined ? undefined : { mediaType: input.mediaType }
  const parts: Part[] = []
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
  return partsOf(parts)
}

/** The artifact as it will be recorded, its id aside. @throws LullError `INVALID_INPUT` before anything is recorded */
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
