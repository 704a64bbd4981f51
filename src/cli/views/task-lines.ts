/** A task as a few live lines: state, turn, step, wait with countdown, last text. */
import type { TaskSummary, TimelineEntry } from '../../client/index.ts'
import type { Task } from '../../client/tasks/task-types.ts'
import { isPaused } from '../../core/states.ts'
import { durationText } from '../../core/values/duration-text.ts'
import type { ResumeConditions } from '../../core/waiting/conditions.ts'
import { waitText } from '../../core/waiting/wait-text.ts'
import type { Paint } from '../command.ts'
import { ageText, oneLine, stateText, statusText, stillActs } from './render.ts'

/** The shown state of a task. A Lull server fills every member, another A2A agent some of them. */
export interface TaskView {
  readonly state: string
  readonly since?: string | undefined
  readonly agent?: string | undefined
  readonly turn?: number | undefined
  readonly progress?: number | undefined
  readonly pausing?: boolean | undefined
  readonly why?: string | undefined
  readonly conditions?: ResumeConditions | undefined
  readonly deadlineAt?: string | undefined
  readonly isStopped: boolean
  readonly mayStillAct?: readonly string[] | undefined
  readonly says: string
  /** How far the server's clock is ahead of the clock of this machine. */
  readonly skewMs: number
}

export function viewOfSummary(task: TaskSummary, now: number): TaskView {
  const { state, since, agent, turn, progress, pausing, stop, says, dueAt, remainingMs } = task
  const { mayStillAct } = task
  const isStopped = stop !== undefined && !pausing
  return {
    ...{ state, since, agent, turn, progress, pausing, isStopped, mayStillAct },
    why: stop?.reason,
    conditions: (stop?.conditions ?? undefined) as ResumeConditions | undefined,
    deadlineAt: stop?.deadlineAt,
    says: isStopped ? '' : says,
    skewMs:
      dueAt === undefined || remainingMs === undefined ? 0 : Date.parse(dueAt) - remainingMs - now,
  }
}

export function viewOfTask(task: Task): TaskView {
  const { state, status, suspension } = task
  const isStopped = state !== 'unknown' && isPaused(state)
  return {
    state,
    since: status.timestamp,
    isStopped,
    mayStillAct: suspension?.mayStillAct,
    pausing: suspension?.pausing,
    why: suspension?.reason,
    conditions: suspension?.conditions,
    deadlineAt: suspension?.deadlineAt,
    says: isStopped ? '' : statusText(task),
    skewMs: 0,
  }
}

const WORD = 6
/** The column in which a text begins. */
export const SAYS_AT: number = 2 + WORD + 1

/** @param text the last line that the task is writing; empty when there is none */
export function taskBlock(
  view: TaskView,
  step: TimelineEntry | undefined,
  text: string,
  now: number,
  paint: Paint,
): readonly string[] {
  const at = now + view.skewMs
  const head = [
    `${stateText(view.state, paint)}${view.pausing === true ? ', pausing' : ''}`,
    view.agent === undefined ? '' : oneLine(view.agent),
    view.turn === undefined ? '' : oneLine(`turn ${view.turn}`),
    paint('dim', `for ${ageText(view.since, at) || 'a while'}`),
    bar(view.progress),
  ]
  const rows: readonly (readonly [string, string])[] = [
    ['step', step === undefined ? '' : stepText(step, at)],
    ['acts', view.mayStillAct === undefined ? '' : stillActs(view.mayStillAct)],
    ['why', view.why ?? ''],
    ['wakes', view.isStopped ? waitText(view.conditions, view.deadlineAt, at, 'exact') : ''],
    ['says', text === '' ? view.says : text],
  ]
  return [
    head.filter((part) => part !== '').join('  '),
    ...rows.flatMap(([word, value]) =>
      value === '' ? [] : [`  ${paint('dim', word.padEnd(WORD))} ${oneLine(value)}`],
    ),
  ]
}

function stepText({ name, attempt = 1, outcome, text, at }: TimelineEntry, now: number): string {
  const ago = durationText(Math.max(0, now - Date.parse(at)))
  const which = attempt > 1 ? `, attempt ${attempt}` : ''
  const why = text === undefined ? '' : `: ${text}`
  return `${name ?? ''}${which} ${outcome ?? ''}${why} (${ago} ago)`
}

const BAR = 20

function bar(fraction: number | undefined): string {
  if (fraction === undefined) return ''
  const done = Math.round(fraction * BAR)
  return `${'█'.repeat(done)}${'░'.repeat(BAR - done)} ${Math.round(fraction * 100)} %`
}
