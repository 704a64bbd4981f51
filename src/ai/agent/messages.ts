/**
 * Converts the transcript of a task to messages for a model. Providers reject a list in which a
 * tool call has no result, so missing results are added.
 *
 * Invariants (messages.test.ts), which hold for every transcript, also one that was cut in the middle:
 *  V1  directly after the message with the calls, each call has exactly one result, in the order of the calls;
 *  V2  every result has a call;
 *  V3  no two calls have the same id;
 *  V4  the first message is from the user, and no message is empty;
 *  V5  a link becomes a file only if the model loads it itself; other links become text, so that
 *      the SDK downloads nothing.
 */
import type { AssistantModelMessage, ModelMessage, ToolResultPart } from 'ai'
import type { Part } from '../../core/messages/message.ts'
import type { TranscriptEntry } from '../../core/messages/transcript.ts'
import type { Json, MembersOf } from '../../core/values/json.ts'
import type { TakesUrl } from '../model/durable-model.ts'
import { fromJournal } from '../model/journal-value.ts'
import { INTERRUPTED } from '../tools/results.ts'

type AssistantParts = Exclude<AssistantModelMessage['content'], string>
type UserParts = Exclude<Extract<ModelMessage, { role: 'user' }>['content'], string>

/** @param next the entry after this one */
type MakeMessages = (
  content: Json,
  takesUrl: TakesUrl,
  next: TranscriptEntry | undefined,
) => readonly ModelMessage[]

const made: Readonly<Record<TranscriptEntry['role'], MakeMessages>> = {
  digest: (content) => [{ role: 'user', content: String(content) }],
  user: userMessage,
  agent: (content, _, next) => assistantMessages(content, next),
  // The results belong to the message before them (V2).
  tool: () => [],
}

const BEGIN: ModelMessage = { role: 'user', content: 'Continue.' }

export function messagesOf(
  transcript: readonly TranscriptEntry[],
  takesUrl: TakesUrl = () => false,
): readonly ModelMessage[] {
  const messages = transcript.flatMap(({ role, content }, index) =>
    made[role](content, takesUrl, transcript[index + 1]),
  )
  return messages[0]?.role === 'user' ? messages : [BEGIN, ...messages]
}

function userMessage(content: Json, takesUrl: TakesUrl): readonly ModelMessage[] {
  const parts = (content as readonly MembersOf<Part>[]).flatMap((part) => userPart(part, takesUrl))
  return parts.length === 0 ? [] : [{ role: 'user', content: parts }]
}

/** A part of a user message as content for a model. */
function userPart(part: MembersOf<Part>, takesUrl: TakesUrl): UserParts {
  const { mediaType = 'application/octet-stream' } = part
  if ('text' in part) return part.text === '' ? [] : [{ type: 'text', text: part.text }]
  if ('data' in part) return [{ type: 'text', text: JSON.stringify(part.data) }]
  const named = part.filename === undefined ? {} : { filename: part.filename }
  if ('raw' in part) return [{ type: 'file', data: part.raw, mediaType, ...named }]
  if (takesUrl(mediaType, part.url))
    return [{ type: 'file', data: new URL(part.url), mediaType, ...named }]
  const text = part.filename === undefined ? part.url : `${part.filename}: ${part.url}`
  return text === '' ? [] : [{ type: 'text', text }]
}

/** An answer that was cut off is followed by the next one, without a message of the user between them. */
function assistantMessages(
  content: Json,
  next: TranscriptEntry | undefined,
): readonly ModelMessage[] {
  const parts = fromJournal(content) as AssistantParts
  if (parts.length === 0) return []
  const assistant: ModelMessage = { role: 'assistant', content: parts }
  const calls = openCalls(parts)
  if (calls.length === 0)
    return next === undefined || next.role === 'agent' ? [assistant, BEGIN] : [assistant]
  const known = fromJournal(next?.role === 'tool' ? next.content : []) as readonly ToolResultPart[]
  const results = calls.map(
    ({ toolCallId, toolName }): ToolResultPart =>
      known.find((result) => result.toolCallId === toolCallId) ?? {
        type: 'tool-result',
        toolCallId,
        toolName,
        output: INTERRUPTED,
      },
  )
  return [assistant, { role: 'tool', content: results }]
}

/** The calls that the agent has to answer. A provider answers its own tools. */
export function openCalls(
  parts: AssistantParts,
): readonly Extract<AssistantParts[number], { type: 'tool-call' }>[] {
  return parts.flatMap((part) =>
    part.type === 'tool-call' && part.providerExecuted !== true ? [part] : [],
  )
}

/**
 * The content of an answer for the transcript, in a form that every provider accepts as input:
 * without empty texts, with an object as the input of each call, and with unused ids (V3).
 * @param rename returns the id to use for a call
 */
export function acceptable(
  content: AssistantModelMessage['content'],
  rename: (toolCallId: string) => string,
): AssistantParts {
  const parts: AssistantParts =
    typeof content === 'string' ? [{ type: 'text', text: content }] : content
  return parts.flatMap((part): AssistantParts => {
    if (part.type === 'text' && part.text === '') return []
    if (part.type !== 'tool-call' || part.providerExecuted === true) return [part]
    const { input } = part
    const isObject = typeof input === 'object' && input !== null && !Array.isArray(input)
    return [
      {
        ...part,
        toolCallId: rename(part.toolCallId),
        input: isObject ? input : { invalid: input },
      },
    ]
  })
}

/** Returns a function that gives each call a unique id, because models repeat ids. */
export function createRename(transcript: readonly TranscriptEntry[]): (id: string) => string {
  const used = new Set(
    transcript.flatMap(({ role, content }) =>
      role === 'agent'
        ? openCalls(fromJournal(content) as AssistantParts).map(({ toolCallId }) => toolCallId)
        : [],
    ),
  )
  return (id) => {
    let unique = id
    for (let number = 2; used.has(unique); number++) unique = `${id}-${number}`
    used.add(unique)
    return unique
  }
}
