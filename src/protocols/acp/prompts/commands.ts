/** Slash commands, for clients that know no method of ours: `/suspend`, `/resume`, `/remind`. */
import type { AvailableCommand, ContentBlock } from '@agentclientprotocol/sdk'
import { LullError } from '../../../core/errors.ts'
import type { Message } from '../../../core/message.ts'
import { toRemind, toSuspend } from '../connection/address.ts'
import { injectReminder } from '../reminders/reminding.ts'
import { suspendTask } from '../suspend/suspending.ts'
import { type Segment, type SegmentDeps, wakeWith } from './segments.ts'

export const availableCommands: readonly AvailableCommand[] = [
  {
    name: 'suspend',
    description: 'Suspend the session without losing its place',
    input: { hint: 'why (optional)' },
  },
  {
    name: 'resume',
    description: 'Resume the suspended session',
    input: { hint: 'what to tell it (optional)' },
  },
  {
    name: 'remind',
    description: 'Remind the agent of something at its next turn',
    input: { hint: 'what to keep in mind' },
  },
]

export interface SlashCommand {
  readonly name: string
  readonly words: string
}

/** A prompt that begins with the name of one of our commands, and with nothing like it. */
export function commandIn([first, ...more]: readonly ContentBlock[]): SlashCommand | undefined {
  if (first?.type !== 'text' || more.length > 0) return undefined
  const found = /^\s*\/(suspend|resume|remind)(?:\s+(.*))?$/s.exec(first.text)
  return found?.[1] === undefined ? undefined : { name: found[1], words: (found[2] ?? '').trim() }
}

export async function runCommand(
  deps: SegmentDeps,
  { name, words }: SlashCommand,
  signal: AbortSignal,
  pass: () => void,
): Promise<Segment> {
  const { connection, attachment, meta } = deps
  const { acp, caller } = connection
  const { id } = attachment.session
  if (name === 'resume') return wakeWith(deps, [], words === '' ? {} : { input: words })
  const open = await acp.sessions.openTasks(caller, id)
  if (name === 'suspend') {
    const taskId = toSuspend(open, id, meta).id
    const reason = words === '' ? {} : { reason: words }
    // It may take as long as the running step does.
    pass()
    const task = await suspendTask(acp, caller, { taskId, ...reason }, signal)
    await attachment.seen(taskId, task.version)
    return { taskId, rest: Promise.resolve(task) }
  }
  if (words === '') {
    throw new LullError('INVALID_INPUT', { path: 'prompt', problem: '/remind needs a text' })
  }
  await injectReminder(acp, caller, id, toRemind(open, meta), { body: words })
  return { reply: reply(deps, 'Noted for the next turn.') }
}

function reply({ connection }: SegmentDeps, text: string): Message {
  return { messageId: connection.acp.ids.uuid(), role: 'ROLE_AGENT', parts: [{ text }] }
}
