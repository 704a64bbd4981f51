import { PassThrough } from 'node:stream'
import type { Io } from '../command.ts'

export interface FakeIo extends Io {
  readonly out: readonly string[]
  readonly err: readonly string[]
}

/** No terminal, and told to stop as soon as it serves. */
export function createFakeIo(): FakeIo {
  const out: string[] = []
  const err: string[] = []
  return {
    out,
    err,
    print: (line) => out.push(...line.split('\n')),
    warn: (line) => err.push(...line.split('\n')),
    paint: (_, text) => text,
    live: () => undefined,
    stopped: (close) => close(),
    speak: () => ({ input: new PassThrough(), output: new PassThrough() }),
    self: 'lull',
  }
}
