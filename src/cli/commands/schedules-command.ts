/** Schedules of agents: see them, pause and resume them, and start a task by hand. */

import type { ScheduleSummary } from '../../client/index.ts'
import { createOps, type Ops } from '../../client/ops-client.ts'
import { plain } from '../../core/printable.ts'
import { until } from '../../core/wait-text.ts'
import { type Command, exitCodes, type Input, type Io, UsageError } from '../command.ts'
import { opsOptions, serverUrl, urlFlag } from '../input/server-access.ts'
import { age } from '../views/render.ts'

export const schedulesList: Command = {
  name: 'schedules list',
  about: 'List the schedules: their times, the next one, and the last task',
  flags: urlFlag,
  examples: ['schedules', 'schedules list --json'],
  async run(input, io) {
    const schedules = await opsOf(input).schedules()
    if (input.has('json')) io.print(JSON.stringify({ schedules }))
    else if (schedules.length === 0) io.print('No agent has a schedule')
    else for (const one of schedules) io.print(lineOf(one, io))
    return exitCodes.ok
  },
}

export const schedulesPause: Command = changing(
  'pause',
  'No time starts a task until it is resumed',
)
export const schedulesResume: Command = changing('resume', 'Go on with the next time')

export const schedulesRun: Command = {
  name: 'schedules run',
  args: '<agent:name>',
  about: 'Start a task of the schedule now, also while it is paused',
  flags: urlFlag,
  examples: ['schedules run digest:nightly'],
  async run(input, io) {
    const result = await opsOf(input).runSchedule(idIn(input))
    const line = result.taskId === undefined ? 'answered without a task' : `Task ${result.taskId}`
    io.print(input.has('json') ? JSON.stringify(result) : plain(line))
    return exitCodes.ok
  },
}

function changing(verb: 'pause' | 'resume', about: string): Command {
  return {
    name: `schedules ${verb}`,
    args: '<agent:name>',
    about,
    flags: urlFlag,
    examples: [`schedules ${verb} digest:nightly`],
    async run(input, io) {
      const ops = opsOf(input)
      const id = idIn(input)
      const one = await (verb === 'pause' ? ops.pauseSchedule(id) : ops.resumeSchedule(id))
      io.print(input.has('json') ? JSON.stringify(one) : lineOf(one, io))
      return exitCodes.ok
    },
  }
}

function lineOf(one: ScheduleSummary, io: Io): string {
  const { scheduleId, times, paused, pausedBy = 'an operator', nextAt, lastAt, lastTaskId } = one
  const next = paused
    ? io.paint('yellow', `paused by ${plain(pausedBy)}`)
    : nextAt === undefined
      ? 'no further time'
      : `next ${until(nextAt, Date.now())}, ${nextAt}`
  const last =
    lastAt === undefined
      ? []
      : [`last ${age(lastAt, Date.now())} ago`, plain(lastTaskId ?? 'without a task')]
  return [io.paint('bold', plain(scheduleId)), plain(times), next, ...last].join('  ')
}

function idIn(input: Input): string {
  const [id, ...more] = input.words
  if (id === undefined || more.length > 0) throw new UsageError('give one schedule, as agent:name')
  return id
}

function opsOf(input: Input): Ops {
  return createOps(opsOptions(serverUrl(input)))
}
