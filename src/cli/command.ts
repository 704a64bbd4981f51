/** What a command is: words, flags, examples and a function. Help, usage and errors are made from this. */
import type { Readable, Writable } from 'node:stream'

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

export const exitCodes: {
  readonly ok: 0
  /** The server, or the machine, said no. */
  readonly refused: 1
  readonly usage: 2
  readonly unreachable: 3
  /** The task that was waited for failed, was rejected or was canceled. */
  readonly taskFailed: 4
} = { ok: 0, refused: 1, usage: 2, unreachable: 3, taskFailed: 4 }

export interface Flag {
  /** What its value is called in the help; a flag without one is a switch. */
  readonly value?: string
  readonly short?: string
  readonly about: string
}

export interface Command {
  /** The words that call it, such as `tasks list`. */
  readonly name: string
  /** Its arguments, as the help shows them. */
  readonly args?: string
  readonly about: string
  readonly flags: Readonly<Record<string, Flag>>
  readonly examples: readonly string[]
  /** Runs until it is told to stop; losing its output is no reason to end. */
  readonly serves?: true
  readonly run: (input: Input, io: Io) => Promise<ExitCode>
}

/** What was typed after the command's words. */
export interface Input {
  readonly words: readonly string[]
  readonly has: (flag: string) => boolean
  readonly text: (flag: string) => string | undefined
  readonly texts: (flag: string) => readonly string[]
}

export interface Io {
  /** A line on stdout. */
  readonly print: (line: string) => void
  /** Text on stdout that may go on: the next line begins after it. */
  readonly write: (text: string) => void
  /** A line on stderr. */
  readonly warn: (line: string) => void
  readonly paint: Paint
  /** Shows one line that is replaced by the next; nothing where there is no terminal. */
  readonly live: (line: string | undefined) => void
  /** What Ctrl-C says before it ends the program, until the function given back is called. */
  readonly interrupted: (say: () => string) => () => void
  /** Resolves when the process is asked to stop. */
  readonly stopped: (close: () => Promise<void>) => Promise<void>
  /** Gives stdin and stdout to a protocol: whatever else prints on stdout from now on ends up on stderr. */
  readonly speak: () => { readonly input: Readable; readonly output: Writable }
  /** How this program is called where it was started, such as `npx lull`. */
  readonly self: string
}

export type Colour = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

/** Colours the text, on a terminal that has them. */
export type Paint = (colour: Colour, text: string) => string

/** The command was called in a way it does not know. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Flags every command has. */
export const commonFlags: Readonly<Record<string, Flag>> = {
  json: { about: 'Print JSON' },
  help: { short: 'h', about: 'Show this help' },
}
