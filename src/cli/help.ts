/** Help texts, generated from the table of commands. */
import { type Command, commonFlags, type Flag, type Paint } from './command.ts'

export function usageOf({ name, args }: Command): string {
  return ['lull', name, args, '[flags]'].filter((word) => word !== undefined).join(' ')
}

export function helpFor(command: Command, paint: Paint, self: string): string {
  const flags = { ...command.flags, ...commonFlags }
  return [
    `${command.about}.`,
    '',
    `${paint('bold', 'Usage')}  ${usageOf(command)}`,
    '',
    paint('bold', 'Flags'),
    ...columns(Object.entries(flags).map(([name, flag]) => [spelling(name, flag), flag.about])),
    '',
    paint('bold', 'Examples'),
    ...command.examples.map((example) => `  ${self} ${example}`),
  ].join('\n')
}

export function overview(commands: readonly Command[], paint: Paint, self: string): string {
  return [
    'Lull runs agent tasks that can stop without losing their place.',
    '',
    `${paint('bold', 'Usage')}  lull <command> [flags]`,
    '',
    paint('bold', 'Commands'),
    ...columns(commands.map(({ name, args, about }) => [[name, args].join(' ').trimEnd(), about])),
    '',
    `${self} <command> --help  shows flags and examples.`,
    'A task can be named by a unique beginning or ending of its id, or by @last.',
    'Exit codes: 0 ok, 1 refused, 2 wrong usage, 3 server unreachable, 4 the task failed,\n  was rejected or was canceled.',
  ].join('\n')
}

function spelling(name: string, { short, value }: Flag): string {
  const long = value === undefined ? `--${name}` : `--${name} <${value}>`
  return short === undefined ? long : `-${short}, ${long}`
}

function columns(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}
