/** Slash commands, for clients that know no method of ours: `/suspend`, `/resume`, `/remind`. */
import type { AvailableCommand, ContentBlock } from '@agentclientprotocol/sdk'
import { LullError } from '../../../core/errors.ts'
import type { Message } from '../../../core/message.ts'
import type { Offers } from '../../../engine/offers.ts'
import { toRemind, toSuspend } from '../connection/address.ts'
import { injectReminder } from '../reminders/reminding.ts'
import { suspendTask } from '../suspend/suspending.ts'
import { type Segment, type SegmentDeps, wakeWith } from './segments.ts'

const commands: readonly (AvailableCommand & { readonly needs: keyof Offers })[] = [
  {
    needs: 'pause',
    name: 'suspend',
    description: 'Suspend the session without losing its place',
    input: { hint: 'why (optional)' },
  },
  {
    needs: 'pause',
    name: 'resume',
    description: 'Resume the suspended session',
    input: { hint: 'what to tell it (optional)' },
  },
  {
    needs: 'reminders',
    name: 'remind',
    description: 'Remind the agent of something at its next turn',
    input: { hint: 'what to keep in mind' },
  },
]

export function availableCommands(offers: Offers): readonly AvailableCommand[] {
  return commands.filter(({ needs }) => offers[needs]).map(({ needs: _, ...command }) => command)
}

export interface SlashCommand {
  readonly name: string
  readonly words: string
}

/** The command that a prompt consists of. Undefined: the prompt is for the agent. */
export function commandIn(
  [first, ...more]: readonly ContentBlock[],
  offers: Offers,
): SlashCommand | undefined {
  if (first?.type !== 'text' || more.length > 0) return undefined
  const [, name, words = ''] = /^\s*\/(\w+)(?:\s+(.*))?$/s.exec(first.text) ?? []
  const known = availableCommands(offers).find((command) => command.name === name)
  return known && { name: known.name, words: words.trim() }
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
