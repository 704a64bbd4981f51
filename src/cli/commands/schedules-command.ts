/** Schedules of agents: see them, pause and resume them, and start a task by hand. */
import type { FailedScheduleTime, ScheduleSummary } from '../../client/index.ts'
import type { Ops } from '../../client/ops-client.ts'
import { plain } from '../../core/values/printable.ts'
import { until } from '../../core/waiting/wait-text.ts'
import { listCommand, oneIdCommand } from '../call-command.ts'
import type { Command, Io } from '../command.ts'
import { ageText } from '../views/render.ts'

const listOfSchedules = listCommand({
  name: 'schedules list',
  about: 'List the schedules: their times, the next one, and the last task',
  examples: ['schedules', 'schedules list --json'],
  member: 'schedules',
  list: (ops) => ops.schedules(),
  line: scheduleLine,
  none: 'No agent has a schedule',
})

/** @param lines makes what is printed of the answer */
function changeCommand<T>(
  verb: string,
  about: string,
  call: (ops: Ops, id: string) => Promise<T>,
  lines: (result: T, io: Io) => readonly string[],
): Command {
  return oneIdCommand({
    name: `schedules ${verb}`,
    names: 'schedule, as agent:name',
    args: '<agent:name>',
    about,
    examples: [`schedules ${verb} digest:nightly`],
    call,
    lines,
  })
}

const scheduleLines = (one: ScheduleSummary, io: Io): readonly string[] => [scheduleLine(one, io)]

export const schedulesCommands: readonly Command[] = [
  listOfSchedules,
  changeCommand(
    'pause',
    'No time starts a task until it is resumed',
    (ops, id) => ops.pauseSchedule(id),
    scheduleLines,
  ),
  changeCommand(
    'resume',
    'Go on with the next time',
    (ops, id) => ops.resumeSchedule(id),
    scheduleLines,
  ),
  changeCommand(
    'run',
    'Start a task of the schedule now, also while it is paused',
    (ops, id) => ops.runSchedule(id),
    ({ taskId }) => [taskId === undefined ? 'answered without a task' : plain(`Task ${taskId}`)],
  ),
]

export function scheduleLine(one: ScheduleSummary, io: Io): string {
  const { scheduleId, times, paused, pausedBy = 'an operator', nextAt, lastAt, lastTaskId } = one
  const next = paused
    ? io.paint('yellow', `paused by ${plain(pausedBy)}`)
    : nextAt === undefined
      ? 'no further time'
      : `next ${until(nextAt, Date.now())}, ${nextAt}`
  const last =
    lastAt === undefined
      ? []
      : [`last ${ageText(lastAt, Date.now())} ago`, plain(lastTaskId ?? 'without a task')]
  const failed = (one.failed ?? []).map((time) => `\n  ${failedLine(time, io)}`)
  return (
    [io.paint('bold', plain(scheduleId)), plain(times), next, ...last].join('  ') + failed.join('')
  )
}

function failedLine({ time, attempts, why, retryAt }: FailedScheduleTime, io: Io): string {
  const then = retryAt === undefined ? 'given up' : `again ${until(retryAt, Date.now())}`
  const tried = `failed ${attempts === 1 ? 'once' : `${attempts} times`}, ${then}`
  return `${time}  ${io.paint(retryAt === undefined ? 'red' : 'yellow', tried)}  ${plain(why)}`
}
