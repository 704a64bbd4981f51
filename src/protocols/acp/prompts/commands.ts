/** Slash commands for clients without the extension: `/suspend`, `/resume`, `/remind`. */
import type { AvailableCommand, ContentBlock } from '@agentclientprotocol/sdk'
import { LullError } from '../../../core/errors.ts'
import type { Offers } from '../../../engine/requests/offers.ts'
import { toRemind, toSuspend } from '../connection/address.ts'
import { injectReminder } from '../reminders/session-reminders.ts'
import { suspendTask } from '../suspend/suspending.ts'
import { wakeTask } from './continue-task.ts'
import { ownReply, type PromptDeps, type PromptOutcome } from './prompt-outcome.ts'

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

/** The command in a prompt. Undefined: the prompt is a message for the agent. */
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
  deps: PromptDeps,
  { name, words }: SlashCommand,
  signal: AbortSignal,
  unlock: () => void,
): Promise<PromptOutcome> {
  if (name === 'resume') return wakeTask(deps, [], words === '' ? {} : { input: words })
  return name === 'suspend' ? suspend(deps, words, signal, unlock) : remind(deps, words)
}

async function suspend(
  { connection, attachment, meta }: PromptDeps,
  words: string,
  signal: AbortSignal,
  unlock: () => void,
): Promise<PromptOutcome> {
  const { acp, caller } = connection
  const { id } = attachment.session
  const taskId = toSuspend(await acp.sessions.openTasks(caller, id), id, meta).id
  const reason = words === '' ? {} : { reason: words }
  // Unlocked before the wait, which may last as long as the running step.
  unlock()
  const about = await suspendTask(acp, caller, { taskId, ...reason }, signal)
  await attachment.seen(taskId, about.version)
  const reply = ownReply(connection, 'Suspended. `/resume` goes on.')
  return { reply, about, recorded: false }
}

async function remind(
  { connection, attachment, meta }: PromptDeps,
  words: string,
): Promise<PromptOutcome> {
  const { acp, caller } = connection
  const { id } = attachment.session
  if (words === '') {
    throw new LullError('INVALID_INPUT', { path: 'prompt', problem: '/remind needs a text' })
  }
  const open = await acp.sessions.openTasks(caller, id)
  await injectReminder(acp, caller, id, toRemind(open, meta), { body: words })
  return { reply: ownReply(connection, 'Noted for the next turn.'), recorded: false }
}
