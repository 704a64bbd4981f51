import type { Message, Part } from '../../core/message.ts'
import { part } from '../inputs.ts'
import { parse } from '../parse.ts'
import type { RunCore } from './core.ts'

/** A text is one text part; parts are checked. */
export function partsOf(content: string | readonly Part[]): readonly Part[] {
  if (typeof content === 'string') return [{ text: content }]
  return content.map((one, index) =>
    isText(one) ? { text: one.text } : parse(part, one, `parts.${index}`),
  )
}

/** Text and nothing else, as most parts are: there is nothing to parse. */
function isText(one: unknown): one is { readonly text: string } {
  if (typeof one !== 'object' || one === null) return false
  if (!('text' in one) || typeof one.text !== 'string') return false
  for (const key in one) if (key !== 'text') return false
  return true
}

export function agentMessage(core: RunCore, messageId: string, parts: readonly Part[]): Message {
  const { id, contextId } = core.task
  return { messageId, role: 'ROLE_AGENT', parts, taskId: id, contextId }
}
