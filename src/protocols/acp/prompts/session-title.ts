/** Sets the title of a session to the first words of its first prompt. */
import { LullError } from '../../../core/errors.ts'
import { type Part, textOf } from '../../../core/messages/message.ts'
import { toIso } from '../../../core/values/instant.ts'
import type { PromptDeps } from './prompt-outcome.ts'

const LONGEST_TITLE = 80

/** @throws LullError `INVALID_INPUT` if the prompt has no content */
export async function noteTitle(
  { connection, attachment }: PromptDeps,
  parts: readonly Part[],
): Promise<void> {
  if (parts.length === 0) {
    throw new LullError('INVALID_INPUT', { path: 'prompt', problem: 'must say something' })
  }
  const { acp, caller } = connection
  const { id } = attachment.session
  const updatedAt = acp.clock.now()
  let isFirst = false
  const { title } = await acp.sessions.change(caller, id, (session) => {
    isFirst = session.title === undefined
    return { updatedAt, title: session.title ?? titleFrom(parts) }
  })
  if (!isFirst) return
  await connection.peer().update(id, {
    sessionUpdate: 'session_info_update',
    title: title ?? '',
    updatedAt: toIso(updatedAt),
  })
}

function titleFrom(parts: readonly Part[]): string {
  const words = textOf({ parts }).trim().split('\n')[0] ?? ''
  return words.length > LONGEST_TITLE ? `${words.slice(0, LONGEST_TITLE - 1)}…` : words
}
