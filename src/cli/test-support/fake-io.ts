import { PassThrough } from 'node:stream'
import { printable } from '../../core/values/printable.ts'
import type { Io } from '../command.ts'

export interface FakeIo extends Io {
  readonly out: readonly string[]
  readonly err: readonly string[]
}

/** Has no terminal. `stopped` resolves at once, so a serving command ends as soon as it serves. */
export function createFakeIo(): FakeIo {
  const out: string[] = []
  const err: string[] = []
  let open = false
  return {
    out,
    err,
    print(line) {
      open = false
      out.push(...printable(line).split('\n'))
    },
    write(text) {
      const [first = '', ...rest] = printable(text).split('\n')
      if (open) out.push(`${out.pop() ?? ''}${first}`, ...rest)
      else out.push(first, ...rest)
      open = true
    },
    warn(line) {
      open = false
      err.push(...printable(line).split('\n'))
    },
    interrupted: () => () => undefined,
    paint: (_, text) => text,
    live: () => undefined,
    size: () => undefined,
    stopped: (close) => close(),
    speak: () => ({ input: new PassThrough(), output: new PassThrough() }),
    self: 'lull',
  }
}
