/** A report to read, and the same facts as JSON. */
import type { Level, Profile, Result, Status } from '../model.ts'

export interface Summary {
  readonly target: string
  readonly profile: Profile
  readonly counts: Readonly<Record<Level, Readonly<Record<Status, number>>>>
  readonly results: readonly {
    readonly id: string
    readonly level: Level
    readonly section: string
    readonly title: string
    readonly lane: string
    readonly status: Status
    readonly reason: string
    readonly ms: number
  }[]
}

const LEVELS: readonly Level[] = ['MUST', 'SHOULD', 'MAY']
const STATUSES: readonly Status[] = ['pass', 'fail', 'skip']
const MARKS: Readonly<Record<Status, string>> = { pass: 'ok  ', fail: 'FAIL', skip: 'skip' }

export function summarize(target: string, profile: Profile, results: readonly Result[]): Summary {
  const count = (level: Level, status: Status): number =>
    results.filter((result) => result.case.level === level && result.status === status).length
  const row = (level: Level) =>
    Object.fromEntries(STATUSES.map((status) => [status, count(level, status)]))
  return {
    target,
    profile,
    counts: Object.fromEntries(LEVELS.map((level) => [level, row(level)])) as Summary['counts'],
    results: results.map((result) => ({
      id: result.key,
      level: result.case.level,
      section: result.case.section,
      title: result.case.title,
      lane: result.lane,
      status: result.status,
      reason: result.reason,
      ms: Math.round(result.ms),
    })),
  }
}

export function line(result: Result): string {
  const { level, section, title } = result.case
  const head = `${MARKS[result.status]} ${level.padEnd(6)} ${result.lane.padEnd(11)} ${result.key}`
  const why = result.reason === '' ? '' : `\n    ${result.reason}`
  return `${head}  §${section} ${title}${why}`
}

export function totals({ target, profile, counts }: Summary): string {
  const rows = LEVELS.map((level) => {
    const { pass, fail, skip } = counts[level]
    return `  ${level.padEnd(6)} ${pass} passed, ${fail} failed, ${skip} not applicable`
  })
  return [`${target}, profile ${profile}`, ...rows].join('\n')
}
