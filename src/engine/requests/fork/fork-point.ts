/**
 * Where a fork begins: in front of the first record of one operation of the code. Everything before it is the past that the
 * fork shares.
 *
 * Callers name the operation by its name, by name and number (`plan#2`), by its key, or by the number of its record.
 */
import { LullError } from '../../../core/errors.ts'
import type { LogRecord } from '../../../core/records.ts'
import { addressOf, describeKey } from '../../run/replay/keys.ts'

export interface ForkPoint {
  readonly key: string
  /** For people. */
  readonly name: string
  /** The records before the operation. */
  readonly past: readonly LogRecord[]
}

/** An operation of the log: a step, a tool, a park or a question. */
interface Found {
  readonly key: string
  /** The number of its own record, and of the first record that belongs to it. */
  readonly seq: number
  readonly from: number
}

/** Longer lists are cut. */
const MOST_NAMED = 30

/** @throws LullError `INVALID_INPUT`, which says what can be named */
export function forkPoint(log: readonly LogRecord[], at: string): ForkPoint {
  const all = operationsIn(log)
  const isOutside = ({ key }: Found): boolean => !key.includes('/')
  const everywhere = all.filter((one) => isNamed(one, at))
  const outside = everywhere.filter(isOutside)
  const named = outside.length > 0 ? outside : everywhere
  const [found, another] = named
  if (found === undefined) {
    throw wrong(`names no step of this task. It has: ${listed(all.filter(isOutside))}`)
  }
  if (another !== undefined) throw wrong(`names several: ${listed(named)}. Give the number of one`)
  if (found.key.includes('/')) {
    const outer = found.key.slice(0, found.key.indexOf('/')).replace(/!\d+$/, '')
    throw wrong(`is inside ${describeKey(outer)}, which runs as a whole. Fork at that step`)
  }
  const past = log.filter(({ seq }) => seq < found.from)
  const open = openChild(past)
  if (open !== undefined) {
    throw wrong(
      `comes while the sub-task ${open} runs, which cannot belong to two tasks. Fork where it is not delegated yet, or where it has ended`,
    )
  }
  return { key: found.key, name: describeKey(found.key), past }
}

function operationsIn(log: readonly LogRecord[]): readonly Found[] {
  const found: Found[] = []
  /** The first record of each operation that has no result yet. */
  const begun = new Map<string, number>()
  for (const record of log) {
    // The keys of a new journal begin again.
    if (record.type === 'continued') begun.clear()
    const key = keyOf(record)
    if (key === undefined) continue
    for (const one of [key, outermost(key)]) {
      if (!begun.has(one)) begun.set(one, record.seq)
    }
    if (isOperation(record))
      found.push({ key, seq: record.seq, from: begun.get(key) ?? record.seq })
  }
  return found
}

function keyOf(record: LogRecord): string | undefined {
  if (record.type === 'parked') return record.suspension.key
  return 'key' in record ? record.key : undefined
}

function isOperation({ type }: LogRecord): boolean {
  return type === 'step' || type === 'parked' || type === 'asked'
}

/** The step around an operation, or the operation itself. */
function outermost(key: string): string {
  const end = key.indexOf('/')
  return end < 0 ? key : key.slice(0, end).replace(/!\d+$/, '')
}

function isNamed({ key, seq }: Found, at: string): boolean {
  const address = addressOf(key)
  const names = [key, String(seq), address, address.replace(/#[^#]*$/, '')]
  return names.includes(at) || (at === 'ask' && key.startsWith('ask:'))
}

function listed(found: readonly Found[]): string {
  const names = found.map(({ key, seq }) => `${addressOf(key)} (record ${seq})`)
  const shown = names.slice(0, MOST_NAMED).join(', ')
  return names.length > MOST_NAMED ? `${shown}, …` : shown || 'no step yet'
}

/** A child that was delegated and has not ended. */
function openChild(past: readonly LogRecord[]): string | undefined {
  const open = new Set<string>()
  for (const record of past) {
    if (record.type === 'delegated') open.add(record.childId)
    if (record.type === 'child-ended') open.delete(record.result.taskId)
  }
  return [...open][0]
}

function wrong(problem: string): LullError {
  return new LullError('INVALID_INPUT', { path: 'at', problem })
}
