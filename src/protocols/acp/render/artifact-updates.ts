/**
 * Renders artifacts as messages of the agent, which every editor shows. An artifact named `plan`
 * becomes the agent's plan.
 */
import type { PlanEntry, SessionUpdate } from '@agentclientprotocol/sdk'
import { z } from 'zod'
import type { Artifact } from '../../../core/messages/message.ts'
import type { LogRecord } from '../../../core/records.ts'
import type { Task } from '../../../core/task.ts'
import type { JsonObject } from '../../../core/values/json.ts'
import { blockOf } from './content.ts'

const plan = z.object({
  entries: z.array(
    z.object({
      content: z.string(),
      priority: z.enum(['high', 'medium', 'low']).default('medium'),
      status: z.enum(['pending', 'in_progress', 'completed']).default('pending'),
    }),
  ),
})

export function artifactUpdates(
  task: Task,
  { artifact, append, last, attempt }: LogRecord & { readonly type: 'artifact' },
): readonly SessionUpdate[] {
  const entries = planIn(artifact)
  if (entries !== undefined) return [{ sessionUpdate: 'plan', entries: [...entries] }]
  const { artifactId, name, description, parts } = artifact
  const facts = {
    taskId: task.id,
    artifactId,
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    append,
    last,
    ...(attempt === undefined ? {} : { stream: 'recorded' }),
  }
  return parts.map((part, index) => ({
    sessionUpdate: 'agent_message_chunk',
    content: blockOf(part, `lull:/tasks/${task.id}/artifacts/${artifactId}/${index}`),
    // Each attempt has its own message id, so that no client joins the texts of two attempts.
    messageId: attempt ?? artifactId,
    _meta: { lull: { artifact: facts } },
  }))
}

export function textChunk(messageId: string, text: string, artifact: JsonObject): SessionUpdate {
  return {
    sessionUpdate: 'agent_message_chunk',
    content: { type: 'text', text },
    messageId,
    _meta: { lull: { artifact } },
  }
}

function planIn({ name, parts }: Artifact): readonly PlanEntry[] | undefined {
  const [part, ...more] = parts
  if (name !== 'plan' || more.length > 0 || part === undefined || !('data' in part)) {
    return undefined
  }
  const found = plan.safeParse(part.data)
  return found.success ? found.data.entries : undefined
}
