import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One line of the effects file (`LULL_EFFECTS`). */
export interface Effect {
  readonly kind: 'begin' | 'end' | 'abort'
  readonly taskId: string
  readonly name: string
  readonly occurrence: number
  readonly attempt: number
  readonly pid: number
  readonly at: number
}

/** Where the workers on a data directory are told to write it. */
export const effectsPath = (data: string): string => join(data, 'effects')

export function readEffects(data: string): readonly Effect[] {
  const path = effectsPath(data)
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8').split('\n').slice(0, -1).map(parseEffect)
}

export function parseEffect(line: string): Effect {
  const [kind, taskId, name, occurrence, attempt, pid, at, ...rest] = line.split(' ')
  if (at === undefined || rest.length > 0) throw new Error(`not a line of effects: ${line}`)
  return {
    kind: kind as Effect['kind'],
    taskId: taskId ?? '',
    name: decodeURIComponent(name ?? ''),
    occurrence: Number(occurrence),
    attempt: Number(attempt),
    pid: Number(pid),
    at: Number(at),
  }
}
