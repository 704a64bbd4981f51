/** Texts generated from the table of commands: help, usage lines, and completion scripts for shells. */

import {
  type Command,
  commonFlags,
  exitCodes,
  type Flag,
  type Paint,
  UsageError,
  variables,
} from './command.ts'

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
    paint('bold', 'Environment'),
    ...columns(Object.entries(variables)),
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
    paint('bold', 'Environment'),
    ...columns(Object.entries(variables)),
    '',
    `${self} <command> --help  shows flags and examples.`,
    'A task can be named by a unique beginning or ending of its id, or by @last.',
    'Exit codes: 0 ok, 1 refused, 2 wrong usage, 3 server unreachable, 4 the task failed,\n  was rejected or was canceled.',
  ].join('\n')
}

/** The commands of a noun, such as `budgets`. */
export function groupHelp(
  noun: string,
  group: readonly Command[],
  paint: Paint,
  self: string,
): string {
  return [
    `${paint('bold', 'Usage')}  lull ${noun} <${group.map((one) => verbOf(one)).join(' | ')}>`,
    '',
    paint('bold', 'Commands'),
    ...columns(group.map(({ name, args, about }) => [[name, args].join(' ').trimEnd(), about])),
    '',
    `${self} ${noun} <verb> --help  shows flags and examples.`,
  ].join('\n')
}

const verbOf = ({ name }: Command): string => name.split(' ')[1] ?? name

function spelling(name: string, { short, value }: Flag): string {
  const long = value === undefined ? `--${name}` : `--${name} <${value}>`
  return short === undefined ? long : `-${short}, ${long}`
}

function columns(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}

/** @param commands the table in `all-commands.ts`. It is a parameter, because the table contains this command. */
export function completionOf(commands: () => readonly Command[]): Command {
  return {
    name: 'completion',
    args: '<bash | zsh | fish>',
    about: 'Print a completion script for a shell',
    flags: {},
    examples: ['completion bash > ~/.lull-completion.bash', 'completion fish | source'],
    async run(input, io) {
      const [shell = '', ...more] = input.words
      const script = scripts[shell]
      if (script === undefined || more.length > 0) {
        throw new UsageError(`name one shell: ${Object.keys(scripts).join(', ')}`)
      }
      const text = script(commands())
      io.print(input.has('json') ? JSON.stringify({ shell, script: text }) : text)
      return exitCodes.ok
    },
  }
}

type Script = (commands: readonly Command[]) => string

const scripts: Readonly<Record<string, Script>> = { bash, zsh, fish }

const flagsOf = ({ flags }: Command): readonly string[] =>
  Object.keys({ ...flags, ...commonFlags }).map((flag) => `--${flag}`)

/** The words that can follow the words typed so far. */
function nextWords(commands: readonly Command[]): ReadonlyMap<string, readonly string[]> {
  const next = new Map<string, string[]>()
  const add = (after: string, word: string): void => {
    const words = next.get(after) ?? []
    if (!words.includes(word)) next.set(after, [...words, word])
  }
  for (const command of commands) {
    const words = command.name.split(' ')
    for (const [index, word] of words.entries()) add(words.slice(0, index).join(' '), word)
    for (const flag of flagsOf(command)) add(command.name, flag)
  }
  return next
}

function bash(commands: readonly Command[]): string {
  const cases = [...nextWords(commands)].map(
    ([after, words]) => `    "${after}") words="${words.join(' ')}" ;;`,
  )
  return `# Completion of lull for bash
_lull() {
  local words typed="\${COMP_WORDS[1]} \${COMP_WORDS[2]}"
  [ "$COMP_CWORD" -eq 1 ] && typed=""
  [ "$COMP_CWORD" -eq 2 ] && typed="\${COMP_WORDS[1]}"
  _lull_words "$typed"
  [ -z "$words" ] && _lull_words "\${COMP_WORDS[1]}"
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
_lull_words() {
  case "$1" in
${cases.join('\n')}
    *) words="" ;;
  esac
}
complete -o default -F _lull lull`
}

function zsh(commands: readonly Command[]): string {
  return `#compdef lull
autoload -U +X bashcompinit && bashcompinit
${bash(commands)}`
}

function fish(commands: readonly Command[]): string {
  const lines = commands.flatMap((command) => {
    const [first = '', second] = command.name.split(' ')
    const about = quote(command.about)
    const place =
      second === undefined
        ? `complete -c lull -n __fish_use_subcommand -a ${first} -d ${about}`
        : `complete -c lull -n "__fish_seen_subcommand_from ${first}" -a ${second} -d ${about}`
    const used = command.name.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`)
    const flags = Object.entries({ ...command.flags, ...commonFlags }).map(
      ([name, { about: says, value }]) =>
        `complete -c lull -n "${used.join('; and ')}" -l ${name}${value === undefined ? '' : ' -r'} -d ${quote(says)}`,
    )
    return [place, ...flags]
  })
  const groups = [...new Set(commands.flatMap(({ name }) => name.split(' ').slice(0, 1)))]
  const heads = groups
    .filter((word) => !commands.some(({ name }) => name === word))
    .map((word) => `complete -c lull -n __fish_use_subcommand -a ${word}`)
  return ['# Completion of lull for fish', ...heads, ...lines].join('\n')
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "\\'")}'`
}
