/**
 * The line that a step writes when it is executed: `begin|end|abort <taskId> <name> <occurrence> <attempt> <pid>
 * <epochMs>`. Tests count side effects by these lines, across crashes.
 */
import { fsyncSync, openSync, writeSync } from 'node:fs'
import process from 'node:process'

/** Writes one line. It is durable when the call returns. */
export type Effects = (line: string) => void

export type EffectKind = 'begin' | 'end' | 'abort'

export function effectLine(
  kind: EffectKind,
  taskId: string,
  name: string,
  occurrence: number,
  attempt: number,
  at: number,
): string {
  // A lone surrogate cannot be percent-encoded, but UTF-8 has replaced it by U+FFFD.
  const encoded = encodeURIComponent(Buffer.from(name).toString())
  return [kind, taskId, encoded, occurrence, attempt, process.pid, at].join(' ')
}

/** Appends lines to the file named by `LULL_EFFECTS`, if any. */
export function createEffectsFile(
  pathOf: () => string | undefined = () => process.env['LULL_EFFECTS'],
): Effects {
  let opened: { readonly path: string; readonly file: number } | undefined
  return (line) => {
    const path = pathOf()
    if (path === undefined || path === '') return
    if (opened?.path !== path) opened = { path, file: openSync(path, 'a') }
    writeSync(opened.file, `${line}\n`)
    fsyncSync(opened.file)
  }
}
