/**
 * The rules by which OpenAI and Anthropic refuse a list of messages, written down independently of the code that makes the
 * lists. For tests only.
 */

interface Message {
  readonly role: string
  readonly content: unknown
}

interface Piece {
  readonly type: string
  readonly text?: string
  readonly toolCallId?: string
  readonly input?: unknown
  readonly providerExecuted?: boolean
}

/** What the providers would say about the prompt. Empty for a prompt that they take. */
export function refusals(prompt: readonly Message[]): readonly string[] {
  return [...openAiRefusals(prompt), ...anthropicRefusals(prompt)]
}

/** An assistant message with calls is followed by one result for each of them, before anything else. */
function openAiRefusals(prompt: readonly Message[]): readonly string[] {
  const found: string[] = []
  for (const [index, message] of prompt.entries()) {
    const calls = callsIn(message)
    const answered = resultsIn(prompt[index + 1])
    if (message.role === 'assistant') {
      if (calls.join() !== answered.join()) {
        found.push(`openai: message ${index} calls [${calls}], the next has results [${answered}]`)
      }
    } else if (message.role === 'tool' && callsIn(prompt[index - 1]).length === 0) {
      found.push(`openai: message ${index} has results without calls`)
    }
  }
  return found
}

function anthropicRefusals(prompt: readonly Message[]): readonly string[] {
  const found: string[] = []
  const talk = prompt.filter(({ role }) => role !== 'system')
  if (talk[0]?.role !== 'user') found.push('anthropic: the first message is not from the user')
  if (talk.at(-1)?.role === 'assistant') found.push('anthropic: the last message is an answer')
  const ids = talk.flatMap(callsIn)
  if (new Set(ids).size !== ids.length) found.push(`anthropic: an id is used twice: ${ids}`)
  for (const message of talk) {
    const pieces = piecesOf(message)
    if (pieces.length === 0) found.push(`anthropic: an empty message of ${message.role}`)
    for (const piece of pieces) {
      if (piece.type === 'text' && piece.text === '') found.push('anthropic: an empty text')
      const isObject = typeof piece.input === 'object' && piece.input !== null
      if (piece.type === 'tool-call' && !isObject) found.push('anthropic: an input is no object')
    }
    const firstCall = pieces.findIndex(({ type }) => type === 'tool-call')
    const after = firstCall < 0 ? [] : pieces.slice(firstCall)
    if (after.some(({ type }) => type !== 'tool-call')) {
      found.push('anthropic: content after a call')
    }
  }
  if (talk.some(({ role }, index) => role === 'system' && index > 0)) {
    found.push('a system message in the middle')
  }
  return found
}

const piecesOf = ({ content }: Message): readonly Piece[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : (content as readonly Piece[])

function callsIn(message: Message | undefined): readonly string[] {
  if (message?.role !== 'assistant') return []
  return piecesOf(message).flatMap(({ type, toolCallId, providerExecuted }) =>
    type === 'tool-call' && !providerExecuted ? [toolCallId ?? ''] : [],
  )
}

function resultsIn(message: Message | undefined): readonly string[] {
  if (message?.role !== 'tool') return []
  return piecesOf(message).flatMap(({ type, toolCallId }) =>
    type === 'tool-result' ? [toolCallId ?? ''] : [],
  )
}
