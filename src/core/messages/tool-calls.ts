/**
 * Announces tool calls that are about to run. A step is recorded only when it has ended, so an
 * agent that wants its calls to be visible earlier sends a status message with a data part that
 * lists them. Each call has the key of its step, so that a protocol can show the call and its
 * result as one.
 */
import type { Json } from '../values/json.ts'
import type { Message, Part } from './message.ts'

export interface AnnouncedCall {
  /** The key that the step of the call gets in the journal. */
  readonly key: string
  readonly name: string
  readonly input: Json
}

const MEDIA_TYPE = 'application/vnd.lull.tool-calls+json'
const PREFIX = 'call:'

/** The key to choose for the step of an announced call. */
export const callKey = (turn: number, index: number): string => `${PREFIX}${turn}.${index}`

/** Whether the step with that key belongs to an announced call. */
export const isAnnounced = (key: string): boolean => key.startsWith(`tool:${PREFIX}`)

/** @param calls the calls, with keys from `callKey` */
export function announcement(calls: readonly AnnouncedCall[]): readonly Part[] {
  const toolCalls = calls.map(({ key, name, input }) => ({ key: `tool:${key}#key`, name, input }))
  const names = calls.map(({ name }) => name).join(', ')
  return [{ text: `Calling ${names}` }, { data: { toolCalls }, mediaType: MEDIA_TYPE }]
}

/** The calls that the message announces. Undefined for any other message. */
export function announcedIn({ parts }: Message): readonly AnnouncedCall[] | undefined {
  const part = parts.find(({ mediaType }) => mediaType === MEDIA_TYPE)
  if (part === undefined || !('data' in part)) return undefined
  const { data } = part
  const isOurs = typeof data === 'object' && data !== null && 'toolCalls' in data
  return isOurs && Array.isArray(data['toolCalls']) ? data['toolCalls'].filter(isCall) : undefined
}

function isCall(value: unknown): value is AnnouncedCall {
  if (typeof value !== 'object' || value === null) return false
  return 'key' in value && typeof value.key === 'string' && 'name' in value && 'input' in value
}
