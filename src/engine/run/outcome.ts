/** Makes the command that ends a task from what the agent's code returned or threw. */

import { isLullError } from '../../core/errors.ts'
import { describeError } from '../../core/values/describe-error.ts'
import type { Agent } from '../author/agent.ts'
import type { ArtifactInput } from '../author/agent-task.ts'
import { lastArtifact } from './outputs/artifacts.ts'
import { agentMessage, partsOf } from './outputs/parts.ts'
import type { RunCore } from './run-core.ts'
import type { RunAct } from './run-writer.ts'

export function completion(
  value: Awaited<ReturnType<NonNullable<Agent['run']>>>,
  core: RunCore,
): RunAct {
  if (value === undefined || value === null) return { type: 'complete' }
  if (typeof value === 'string' || Array.isArray(value)) {
    const message = agentMessage(core, core.host.ids.uuid(), partsOf(value))
    return { type: 'complete', message }
  }
  const artifact = lastArtifact(core, value as ArtifactInput)
  return artifact === undefined ? { type: 'complete' } : { type: 'complete', artifact }
}

/** Callers see the message of the error. The stack is only in the log. */
export function failing(error: unknown, agent: Agent, core: RunCore): RunAct {
  const { host } = core
  const end = failed(error, core)
  if (end.failure.name === 'Rejection' || isLullError(error, 'CONSENT_DENIED')) {
    return { type: 'reject', message: end.message }
  }
  if (!core.dead) {
    host.log('warn', 'an agent failed', { agent: agent.name, taskId: core.task.id, error })
  }
  return end
}

/** The act that fails a task, with whatever was thrown. */
export function failed(error: unknown, core: RunCore): RunAct & { readonly type: 'fail' } {
  const failure = describeError(error)
  const message = agentMessage(core, core.host.ids.uuid(), [
    { text: failure.message || failure.name },
  ])
  return { type: 'fail', message, failure }
}
