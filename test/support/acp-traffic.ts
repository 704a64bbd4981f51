/** What passed between clients and agents, as the recorder wrote it down. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Line, problemsIn } from './acp-schema.ts'

export const recorder = fileURLToPath(new URL('./acp-recorder.mjs', import.meta.url))

export interface Recording {
  readonly pid: number
  readonly lines: readonly Line[]
  readonly stderr: readonly string[]
  /** Undefined while it runs. */
  readonly exit: number | string | undefined
}

/** What can be judged of it. */
export type Traffic = Pick<Recording, 'lines'> & Partial<Pick<Recording, 'stderr'>>

type Entry =
  | { readonly pid: number }
  | Line
  | { readonly stderr: string }
  | { readonly exit: number | string }

/** One per connection, oldest first. */
export function recordingsIn(directory: string): readonly Recording[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
    .map((name) => read(join(directory, name)))
}

function read(file: string): Recording {
  const entries = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Entry)
  return {
    pid: entries.flatMap((entry) => ('pid' in entry ? [entry.pid] : []))[0] ?? 0,
    lines: entries.flatMap((entry) => ('from' in entry ? [entry] : [])),
    stderr: entries.flatMap((entry) => ('stderr' in entry ? [entry.stderr] : [])),
    exit: entries.flatMap((entry) => ('exit' in entry ? [entry.exit] : []))[0],
  }
}

/** Everything wrong with what was recorded, and everything an agent complained of. */
export function complaintsIn(recordings: readonly Traffic[]): readonly string[] {
  return recordings.flatMap(({ lines, stderr = [] }) => [
    ...problemsIn(lines),
    ...stderr.filter(
      // On a busy machine the code of an agent takes long without being wrong.
      (line) => /error|warn|reject|exception/i.test(line) && !/blocked the event loop/.test(line),
    ),
  ])
}

export interface Message {
  readonly from: Line['from']
  readonly id?: unknown
  readonly method?: string
  // biome-ignore lint/suspicious/noExplicitAny: whatever was sent
  readonly params?: any
  // biome-ignore lint/suspicious/noExplicitAny: whatever was answered
  readonly result?: any
  // biome-ignore lint/suspicious/noExplicitAny: whatever was refused
  readonly error?: any
}

export function messagesIn({ lines }: Pick<Recording, 'lines'>): readonly Message[] {
  return lines.map(({ from, line }) => ({ from, ...(JSON.parse(line) as object) }))
}
