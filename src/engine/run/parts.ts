import type { Message, Part } from '../../core/message.ts'
import { part } from '../inputs.ts'
import { parse } from '../parse.ts'
import type { RunCore } from './core.ts'

/** A text is one text part; parts are checked. */
export function partsOf(content: string | readonly Part[]): readonly Part[] {
  if (typeof content === 'string') return [{ text: content }]
  return content.map((one, index) => parse(part, one, `parts.${index}`))
}

export function agentMessage(core: RunCore, messageId: string, parts: readonly Part[]): Message {
  const { id, contextId } = core.task
  return { messageId, role: 'ROLE_AGENT', parts, taskId: id, contextId }
}
