/** The flags that select the tasks of a hold, a budget or a rule. */
import { type Flag, type Input, UsageError } from '../command.ts'
import { countText } from '../views/render.ts'

export const scopeFlags: Readonly<Record<string, Flag>> = {
  all: { about: 'Every task of every tenant' },
  tenant: { value: 'name', about: 'Every task of this tenant' },
  agent: { value: 'name', about: 'Every task of this agent' },
  context: { value: 'id', about: 'Every task of this conversation' },
  task: { value: 'id', about: 'This task; may be given several times' },
}

/** @param verb what the command does with the tasks @throws UsageError unless exactly one scope is given */
export function readScope(input: Input, verb: string): Readonly<Record<string, unknown>> {
  const [agent, contextId, tenant] = ['agent', 'context', 'tenant'].map((flag) => input.text(flag))
  const taskIds = input.texts('task')
  const scopes = [
    ...(input.has('all') ? [{ all: true }] : []),
    ...(agent === undefined ? [] : [{ agent }]),
    ...(contextId === undefined ? [] : [{ contextId }]),
    ...(taskIds.length === 0 ? [] : [{ taskIds }]),
  ]
  const [scope, second] = scopes
  if (second !== undefined || (scope !== undefined && 'all' in scope && tenant !== undefined)) {
    throw new UsageError('give one scope: --all, --tenant, --agent, --context or --task')
  }
  if (scope !== undefined) return tenant === undefined ? scope : { ...scope, tenant }
  if (tenant !== undefined) return { tenant }
  throw new UsageError(`say what to ${verb}: --all, --tenant, --agent, --context or --task`)
}

export const tasksText = (tasks: number): string => countText(tasks, 'task')
