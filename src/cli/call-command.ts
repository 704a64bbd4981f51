/**
 * Makes commands that make one call and print its result: as JSON with `--json`, otherwise as lines.
 * A command calls either `/ops`, for operators, or one task.
 */
import type { Ops } from '../client/ops-client.ts'
import { type Command, type Flag, type Input, type Io, printResult, UsageError } from './command.ts'
import { readOnlyWord } from './input/read-input.ts'
import { opsOf, urlFlag } from './input/server-access.ts'
import { type NamedTask, readTask } from './input/task-id.ts'
import { countText } from './views/render.ts'

interface CallCommand<T> extends Omit<Command, 'flags' | 'run'> {
  /** Besides the flag of the server's address. */
  readonly flags?: Command['flags']
  readonly lines: (result: T, io: Io) => Iterable<string>
}

interface OpsCommand<T> extends CallCommand<T> {
  readonly call: (ops: Ops, input: Input) => Promise<T>
}

export function opsCommand<T>({ call, lines, flags, ...command }: OpsCommand<T>): Command {
  return {
    ...command,
    flags: { ...flags, ...urlFlag },
    async run(input, io) {
      const result = await call(opsOf(input), input)
      return printResult(input, io, result, lines(result, io))
    },
  }
}

interface OneIdCommand<T> extends CallCommand<T> {
  /** What the only argument names, such as `hold id`. */
  readonly names: string
  readonly call: (ops: Ops, id: string, input: Input) => Promise<T>
}

export function oneIdCommand<T>({ names, call, ...command }: OneIdCommand<T>): Command {
  return opsCommand({
    args: `<${names.replace(' ', '-')}>`,
    ...command,
    call: (ops, input) => call(ops, readOnlyWord(input, `give one ${names}`), input),
  })
}

interface ListCommand<T> extends Pick<Command, 'name' | 'about' | 'examples'> {
  /** The member with the list in the JSON that is printed. */
  readonly member: string
  readonly list: (ops: Ops) => Promise<readonly T[]>
  readonly line: (one: T, io: Io) => string
  /** Printed when the list is empty. */
  readonly none: string
}

export function listCommand<T>({ member, list, line, none, ...command }: ListCommand<T>): Command {
  return opsCommand<Readonly<Record<string, readonly T[]>>>({
    ...command,
    call: async (ops) => ({ [member]: await list(ops) }),
    lines: (result, io) => {
      const lines = (result[member] ?? []).map((one) => line(one, io))
      return lines.length === 0 ? [none] : lines
    },
  })
}

interface TaskCommand<O, T> extends Omit<CallCommand<T>, 'lines'> {
  /** Reads the flags. It runs before the task is looked up, so that a wrong flag is reported at once. */
  readonly options: (input: Input) => O
  readonly call: (task: NamedTask, options: O) => Promise<T>
  readonly lines: (result: T, io: Io, taskId: string) => Iterable<string>
}

export function taskCommand<O, T>(definition: TaskCommand<O, T>): Command {
  const { options, call, lines, flags, ...command } = definition
  return {
    args: '<task-id>',
    ...command,
    flags: { ...flags, ...urlFlag },
    async run(input, io) {
      const given = options(input)
      const task = await readTask(input)
      const result = await call(task, given)
      return printResult(input, io, result, lines(result, io, task.taskId))
    },
  }
}

/** The flags that select the tasks of a hold, a budget or a rule. */
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
