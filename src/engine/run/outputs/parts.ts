import { LullError } from '../../../core/errors.ts'
import type { Message, Part, PartInput } from '../../../core/messages/message.ts'
import { part } from '../../input/inputs.ts'
import { parse } from '../../input/parse.ts'
import type { RunCore } from '../run-core.ts'

/** A text becomes one text part. Given parts are checked. @throws LullError `INVALID_INPUT` */
export function partsOf(content: string | readonly PartInput[]): readonly Part[] {
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

export function agentMessage(core: RunCore, messageId: string, parts: readonly Part[]): Message {
  const { id, contextId } = core.task
  return { messageId, role: 'ROLE_AGENT', parts, taskId: id, contextId }
}
