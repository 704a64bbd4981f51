/** A command: its name, flags, examples and function. Help, usage lines and usage errors are generated from them. */
import type { Readable, Writable } from 'node:stream'
import type { TaskState } from '../client/tasks/task-types.ts'

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

export const exitCodes: {
  readonly ok: 0
  /** The server or the operating system refused. */
  readonly refused: 1
  readonly usage: 2
  readonly unreachable: 3
  /** The command waited for a task, and the task failed, was rejected or was canceled. */
  readonly taskFailed: 4
} = { ok: 0, refused: 1, usage: 2, unreachable: 3, taskFailed: 4 }

export interface Flag {
  /** The name of the flag's value in the help. A flag without a value is a switch. */
  readonly value?: string
  readonly short?: string
  readonly about: string
}

export interface Command {
  /** The words that select the command, such as `tasks list`. */
  readonly name: string
  /** Its arguments, as shown in the help. */
  readonly args?: string
  readonly about: string
  readonly flags: Readonly<Record<string, Flag>>
  readonly examples: readonly string[]
  /** The command runs until it is asked to stop. A closed stdout does not end it. */
  readonly serves?: true
  readonly run: (input: Input, io: Io) => Promise<ExitCode>
}

/** The arguments and flags after the name of the command. */
export interface Input {
  readonly words: readonly string[]
  readonly has: (flag: string) => boolean
  readonly text: (flag: string) => string | undefined
  readonly texts: (flag: string) => readonly string[]
}

export interface Io {
  /** Writes a line to stdout. */
  readonly print: (line: string) => void
  /** Writes text to stdout without ending its line. The next `print` ends it first. */
  readonly write: (text: string) => void
  /** Writes a line to stderr. */
  readonly warn: (line: string) => void
  readonly paint: Paint
  /** Shows live lines below all others, in place of the former live lines. Does nothing without a terminal. */
  readonly live: (lines: readonly string[]) => void
  /** The size of the terminal; undefined without a terminal. */
  readonly size: () => { readonly columns: number; readonly rows: number } | undefined
  /** Prints the text of `say` when Ctrl-C ends the program. @returns a function that ends this */
  readonly interrupted: (say: () => string) => () => void
  /** Resolves when the process is asked to stop. */
  readonly stopped: (close: () => Promise<void>) => Promise<void>
  /** Reserves stdin and stdout for a protocol. From now on, other writes to stdout go to stderr. */
  readonly speak: () => { readonly input: Readable; readonly output: Writable }
  /** The command that starts this program here, such as `npx lull`. */
  readonly self: string
}

export type Colour = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

/** Colours the text on a terminal with colours. Otherwise returns it unchanged. */
export type Paint = (colour: Colour, text: string) => string

/** The command line is wrong: an unknown command or flag, or a wrong value. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The variables of the environment that commands read. Every help shows them. */
export const variables: Readonly<Record<string, string>> = {
  LULL_URL: 'Server that commands call; --url wins',
  LULL_TOKEN: 'Key or token that commands send to the server',
}

/** The flags that every command has. */
export const commonFlags: Readonly<Record<string, Flag>> = {
  json: { about: 'Print JSON' },
  help: { short: 'h', about: 'Show this help' },
}

/** Prints the result of a command: as JSON with `--json`, otherwise as lines. */
export function printResult(
  input: Input,
  io: Io,
  result: unknown,
  lines: Iterable<string>,
): (typeof exitCodes)['ok'] {
  for (const line of input.has('json') ? [JSON.stringify(result)] : lines) io.print(line)
  return exitCodes.ok
}

const exits: Readonly<Record<TaskState, ExitCode>> = {
  failed: exitCodes.taskFailed,
  rejected: exitCodes.taskFailed,
  canceled: exitCodes.taskFailed,

  submitted: exitCodes.ok,
  working: exitCodes.ok,
  'input-required': exitCodes.ok,
  'auth-required': exitCodes.ok,
  'user-consent-required': exitCodes.ok,
  'paused-by-client': exitCodes.ok,
  'paused-by-agent': exitCodes.ok,
  completed: exitCodes.ok,
  unknown: exitCodes.ok,
}

/** The exit code of a command that waited for a task, by the state of the task. */
export function exitCodeOf(state: TaskState): ExitCode {
  return exits[state]
}
