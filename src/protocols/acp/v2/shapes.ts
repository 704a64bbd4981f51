/** Converts updates of version 1 to version 2. Version 2 is a draft, so only this folder depends on its shapes. */
import type { AvailableCommand, SessionConfigOption, SessionUpdate } from '@agentclientprotocol/sdk'
import type * as v2 from '@agentclientprotocol/sdk/experimental/v2'

export function updateV2(update: SessionUpdate): v2.SessionUpdate {
  switch (update.sessionUpdate) {
    case 'agent_message_chunk':
      if (isDiscarded(update)) return emptied(update)
      return { ...update, messageId: update.messageId ?? 'aside' } as v2.SessionUpdate
    case 'user_message_chunk':
    case 'agent_thought_chunk':
      return { ...update, messageId: update.messageId ?? 'aside' } as v2.SessionUpdate
    case 'tool_call':
    case 'tool_call_update':
      return { ...update, sessionUpdate: 'tool_call_update' } as v2.SessionUpdate
    case 'plan':
      return {
        sessionUpdate: 'plan_update',
        plan: { type: 'items', planId: 'plan', entries: update.entries },
      }
    case 'config_option_update':
      return {
        sessionUpdate: 'config_option_update',
        configOptions: update.configOptions.map(optionV2),
      }
    case 'available_commands_update':
      return {
        sessionUpdate: 'available_commands_update',
        availableCommands: update.availableCommands.map(commandV2),
      }
    default:
      return update as v2.SessionUpdate
  }
}

type Chunk = SessionUpdate & { readonly sessionUpdate: 'agent_message_chunk' }

/** Whether the chunk is text of an attempt that did not finish (`render/artifact-updates.ts`). */
function isDiscarded({ _meta }: Chunk): boolean {
  const lull = _meta?.['lull'] as { readonly artifact?: { readonly stream?: string } } | undefined
  return lull?.artifact?.stream === 'discarded'
}

/** An empty replacement, because version 2 can replace a message. */
function emptied({ messageId, _meta = null }: Chunk): v2.SessionUpdate {
  return { sessionUpdate: 'agent_message', messageId: messageId ?? 'aside', content: [], _meta }
}

export function optionV2({ id, ...option }: SessionConfigOption): v2.SessionConfigOption {
  return { configId: id, ...option } as v2.SessionConfigOption
}

export function commandV2({ name, description, input }: AvailableCommand): v2.AvailableCommand {
  return {
    type: 'command',
    name,
    description,
    ...(input == null ? {} : { input: { type: 'text', hint: input.hint } }),
  }
}
