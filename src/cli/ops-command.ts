/** Commands that make one call to `/ops` and print its result: as JSON with `--json`, otherwise as lines. */
import type { Ops } from '../client/ops-client.ts'
import { type Command, type Input, type Io, printResult } from './command.ts'
import { opsOf, urlFlag } from './input/server-access.ts'

interface OpsCommand<T> extends Omit<Command, 'flags' | 'run'> {
  /** Besides the flag of the server's address. */
  readonly flags?: Command['flags']
  readonly call: (ops: Ops, input: Input) => Promise<T>
  readonly lines: (result: T, io: Io) => readonly string[]
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
