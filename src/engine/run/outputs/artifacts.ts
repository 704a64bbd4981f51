/** The artifacts of a run: complete ones, and streams that are appended to. */
import { LullError } from '../../../core/errors.ts'
import type { Artifact, Part, PartInput } from '../../../core/messages/message.ts'
import type { JournalRecord } from '../../../core/records.ts'
import type { ArtifactInput, ArtifactStream } from '../../author/agent-task.ts'
import { artifactFacts } from '../../input/inputs.ts'
import { parse } from '../../input/parse.ts'
import type { RunCore } from '../run-core.ts'
import { agentCall } from '../turns/agent-call.ts'
import type { Tell } from './outputs.ts'
import { partsOf } from './parts.ts'

type ArtifactRecord = JournalRecord & { readonly type: 'artifact' }

export interface Artifacts {
  artifact(input: ArtifactInput, options?: { append?: boolean; last?: boolean }): Promise<Artifact>
  stream(name: string, about?: Omit<ArtifactInput, 'name'>): ArtifactStream
}

export function createArtifacts(core: RunCore, tell: Tell): Artifacts {
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
    return tell('artifact', key, make, (record) => record.artifact)
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
export function lastArtifact(core: RunCore, input: ArtifactInput): ArtifactRecord | undefined {
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
  return partsOf(parts)
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
