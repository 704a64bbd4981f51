/** Schedules of agents: see them, pause and resume them, and start a task by hand. */
import type { FailedScheduleTime, ScheduleSummary } from '../../client/index.ts'
import type { Ops } from '../../client/ops-client.ts'
import { plain } from '../../core/values/printable.ts'
import { until } from '../../core/waiting/wait-text.ts'
import type { Command, Io } from '../command.ts'
import { readOnlyWord } from '../input/read-input.ts'
import { listCommand, opsCommand } from '../ops-command.ts'
import { ageText } from '../views/render.ts'

const ONE_SCHEDULE = 'give one schedule, as agent:name'

export const schedulesList: Command = listCommand({
  name: 'schedules list',
  about: 'List the schedules: their times, the next one, and the last task',
  examples: ['schedules', 'schedules list --json'],
  member: 'schedules',
  list: (ops) => ops.schedules(),
  line: scheduleLine,
  none: 'No agent has a schedule',
})

export const schedulesPause: Command = changeCommand(
  'pause',
  'No time starts a task until it is resumed',
  (ops, id) => ops.pauseSchedule(id),
)

export const schedulesResume: Command = changeCommand(
  'resume',
  'Go on with the next time',
  (ops, id) => ops.resumeSchedule(id),
)

export const schedulesRun: Command = opsCommand({
  name: 'schedules run',
  args: '<agent:name>',
  about: 'Start a task of the schedule now, also while it is paused',
  examples: ['schedules run digest:nightly'],
  call: (ops, input) => ops.runSchedule(readOnlyWord(input, ONE_SCHEDULE)),
  lines: ({ taskId }) => [
    taskId === undefined ? 'answered without a task' : plain(`Task ${taskId}`),
  ],
})

function changeCommand(
  verb: string,
  about: string,
  change: (ops: Ops, id: string) => Promise<ScheduleSummary>,
): Command {
  return opsCommand({
    name: `schedules ${verb}`,
    args: '<agent:name>',
    about,
    examples: [`schedules ${verb} digest:nightly`],
    call: (ops, input) => change(ops, readOnlyWord(input, ONE_SCHEDULE)),
    lines: (schedule, io) => [scheduleLine(schedule, io)],
  })
}

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
