/** From arguments to an exit code: finds the command, runs it, and prints an error as one sentence. */

import { parseArgs } from 'node:util'
import { isClientError } from '../client/client-error.ts'
import { isLullError, type LullError } from '../core/errors.ts'
import { describeError } from '../core/values/describe-error.ts'
import { StartError } from '../server/process/start-error.ts'
import { version } from '../server/settings/version.ts'
import { commands } from './all-commands.ts'
import {
  type Command,
  commonFlags,
  type ExitCode,
  exitCodes,
  type Input,
  type Io,
  UsageError,
} from './command.ts'
import { groupHelp, helpFor, overview, usageOf } from './command-texts.ts'

export async function runCli(args: readonly string[], io: Io): Promise<ExitCode> {
  const command = findCommand(args)
  if (command === undefined) return withoutCommand(args, io)
  const rest = args.slice(countWords(command, args))
  if (rest.includes('--help') || rest.includes('-h')) {
    io.print(helpOf(args, command, io))
    return exitCodes.ok
  }
  let input: Input | undefined
  try {
    input = parseInput(command, rest)
    return await command.run(input, io)
  } catch (error) {
    return explain(error, command, input?.has('json') ?? rest.includes('--json'), io)
  } finally {
    io.live([])
  }
}

/** The help of a command, or of all commands of a noun that has no verb, such as `keys --help`. */
function helpOf([first = '', second = '-']: readonly string[], command: Command, io: Io): string {
  const group = commandsOf(first)
  return second.startsWith('-') && command.name !== first && group.length > 1
    ? groupHelp(first, group, io.paint, io.self)
    : helpFor(command, io.paint, io.self)
}

const commandsOf = (noun: string): readonly Command[] =>
  commands.filter(({ name }) => name.startsWith(`${noun} `))

/** The command with the longest matching name. A noun alone lists, where its commands can list. */
export function findCommand(args: readonly string[]): Command | undefined {
  const [first, second] = args
  return (
    commands.find(({ name }) => name === `${first} ${second}`) ??
    commands.find(({ name }) => name === first) ??
    (second === undefined || second.startsWith('-')
      ? (commands.find(({ name }) => name === `${first} list`) ??
        commands.find(({ name }) => name.startsWith(`${first} `)))
      : undefined)
  )
}

function countWords({ name }: Command, args: readonly string[]): number {
  return name === `${args[0]} ${args[1]}` ? 2 : 1
}

function withoutCommand(args: readonly string[], io: Io): ExitCode {
  const [first] = args
  if (first === '--version' || first === '-v') {
    io.print(version)
    return exitCodes.ok
  }
  const help = overview(commands, io.paint, io.self)
  if (first === undefined) {
    io.warn(help)
    return exitCodes.usage
  }
  if (first !== '--help' && first !== '-h' && first !== 'help') return unknownCommand(args, io)
  const about = findCommand(args.slice(1))
  if (args.length > 1 && about === undefined) return unknownCommand(args.slice(1), io)
  io.print(about === undefined ? help : helpOf(args.slice(1), about, io))
  return exitCodes.ok
}

function unknownCommand(args: readonly string[], io: Io): ExitCode {
  const typed = args.filter((word) => !word.startsWith('-')).slice(0, 2)
  const meant = findMeant(typed)
  const noun = commandsOf(typed[0] ?? '').length === 0 ? '' : `${typed[0]} `
  const advice = meant === undefined ? `see ${io.self} ${noun}--help` : `did you mean "${meant}"?`
  io.warn(`lull: there is no command "${typed.join(' ')}"; ${advice}`)
  return exitCodes.usage
}

/** The command that was mistyped. Only its verb is compared if its noun is right. */
function findMeant([noun = '', verb = '']: readonly string[]): string | undefined {
  const verbs = commandsOf(noun).map(({ name }) => name.slice(noun.length + 1))
  if (verbs.length > 0) {
    const meant = findNearest(verb, verbs)
    return meant === undefined ? undefined : `${noun} ${meant}`
  }
  const names = commands.map(({ name }) => name)
  const nouns = names.map((name) => name.split(' ')[0] ?? name)
  const all = [...new Set([...names, ...nouns])]
  return findNearest(`${noun} ${verb}`.trim(), all) ?? findNearest(noun, all)
}

function explain(error: unknown, command: Command, json: boolean, io: Io): ExitCode {
  const { code, exit, message } = verdict(error, command)
  if (json) io.print(JSON.stringify({ error: { code, message } }))
  else io.warn(`${io.paint('red', 'lull:')} ${message}`)
  if (exit === exitCodes.usage && !json) io.warn(`Usage: ${usageOf(command)}`)
  return exit
}

interface Verdict {
  readonly code: string
  readonly exit: ExitCode
  readonly message: string
}

/** By error code: what the user can do about it. */
const advice: Readonly<Record<string, (command: Command) => string>> = {
  STORE_LOCKED({ flags }) {
    const flag = 'from' in flags ? '--from' : '--data'
    return ` Stop that process, or choose another data directory (${flag}, LULL_DATA).`
  },
}

/** By error code of Node: why the code of a command did not load. With too few open files, Node misses packages. */
const loadFailures: Readonly<Record<string, string>> = {
  EMFILE: 'The process may not open enough files; raise its limit (ulimit -n).',
  ERR_MODULE_NOT_FOUND:
    'The program cannot load its code: it is not installed whole, or the process may not open enough files (ulimit -n).',
}

const UNAUTHENTICATED = '. Set LULL_TOKEN to a valid key (lull keys mint) or token'

function exitOf({ code, cause }: LullError): ExitCode {
  if (code === 'INVALID_INPUT') return exitCodes.usage
  return isUnreachable(cause) ? exitCodes.unreachable : exitCodes.refused
}

/** Whether the operating system could not connect to a host or socket, such as that of a database. */
function isUnreachable(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false
  const isOfConnect = 'syscall' in cause && cause.syscall === 'connect'
  return isOfConnect || ('code' in cause && unreachable.has(String(cause.code)))
}

const unreachable: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
])

function verdict(error: unknown, command: Command): Verdict {
  if (error instanceof UsageError) {
    return { code: 'USAGE', exit: exitCodes.usage, message: error.message }
  }
  if (isClientError(error)) {
    const exit = error.kind === 'unreachable' ? exitCodes.unreachable : exitCodes.refused
    const message = `${error.message}${error.reason === 'UNAUTHENTICATED' ? UNAUTHENTICATED : ''}`
    return { code: error.reason, exit, message }
  }
  if (error instanceof StartError) {
    return { code: 'CANNOT_START', exit: exitCodes.refused, message: error.message }
  }
  if (isLullError(error)) {
    const exit = exitOf(error)
    const message = `${error.message}.${advice[error.code]?.(command) ?? ''}`
    return { code: error.code, exit, message }
  }
  const why = loadFailures[error instanceof Error && 'code' in error ? String(error.code) : '']
  if (why !== undefined) return { code: 'CANNOT_START', exit: exitCodes.refused, message: why }
  const message = describeError(error).stack ?? describeError(error).message
  return { code: 'INTERNAL', exit: exitCodes.refused, message }
}

/** @throws UsageError that names the flag */
function parseInput(command: Command, args: readonly string[]): Input {
  const flags = { ...command.flags, ...commonFlags }
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, { value, short }]) => [
      name,
      {
        type: value === undefined ? ('boolean' as const) : ('string' as const),
        multiple: value !== undefined,
        ...(short === undefined ? {} : { short }),
      },
    ]),
  )
  const { values, positionals } = parseFlags(args, options)
  const texts = (flag: string): readonly string[] => {
    const value = values[flag]
    return Array.isArray(value) ? value.map(String) : []
  }
  return {
    words: positionals,
    has: (flag) => values[flag] !== undefined,
    texts,
    // The last value counts, so that a flag given after a shell alias overrides the value in the alias.
    text: (flag) => texts(flag).at(-1),
  }
}

/** @returns the end of the error: the known flag nearest to an unknown one, if there is one */
function suggestFlag(sentence: string, names: readonly string[]): string {
  const [, typed] = /^Unknown option '--([^']*)'/.exec(sentence) ?? []
  const name = typed === undefined ? undefined : findNearest(typed, names)
  return name === undefined ? '' : `; did you mean "--${name}"?`
}

function parseFlags(
  args: readonly string[],
  options: NonNullable<Parameters<typeof parseArgs>[0]>['options'],
): { readonly values: Readonly<Record<string, unknown>>; readonly positionals: readonly string[] } {
  try {
    return parseArgs({ args: [...args], options: options ?? {}, allowPositionals: true })
  } catch (cause) {
    const [sentence = 'unknown flag'] = cause instanceof Error ? cause.message.split('. ') : []
    throw new UsageError(`${sentence}${suggestFlag(sentence, Object.keys(options ?? {}))}`, {
      cause,
    })
  }
}

/** The known word nearest to a mistyped one. @returns undefined when none is near */
function findNearest(typed: string, words: readonly string[]): string | undefined {
  const [best] = words
    .map((word) => ({ word, edits: distance(typed, word) }))
    .sort((a, b) => a.edits - b.edits)
  if (best === undefined) return undefined
  const most = best.word.length < 4 ? 1 : Math.max(2, Math.floor(best.word.length / 4))
  return best.edits <= most ? best.word : undefined
}

/** The Levenshtein distance: the number of letters to insert, remove or replace. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (const [j, other] of [...b].entries()) {
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
