/** Holds: stop many tasks at once, see the holds in effect, and lift them. */
import { createOps, type Ops, scopeText } from '../../client/ops-client.ts'
import { plain } from '../../core/printable.ts'
import { type Command, exitCodes, type Input, UsageError } from '../command.ts'
import { scopeFlags, scopeIn, tasksText } from '../input/scope-flags.ts'
import { opsOptions, serverUrl, urlFlag } from '../input/server-access.ts'
import { age, stillActs } from '../views/render.ts'

export const hold: Command = {
  name: 'hold',
  about: 'Stop many tasks at once; they go on when the hold is lifted',
  flags: {
    ...scopeFlags,
    reason: { value: 'text', about: 'Why; shown with the hold and its tasks' },
    new: { about: 'Hold tasks that are yet to come, too' },
    preview: { about: 'Only tell what would be stopped' },
    ...urlFlag,
  },
  examples: [
    'hold --agent builder --preview',
    'hold --all --reason "incident 42" --new',
    'hold --task <task-id> --task <task-id> --reason "wrong input"',
  ],
  async run(input, io) {
    if (input.words.length > 0) throw new UsageError('hold takes flags only')
    const [scope, reason] = [scopeIn(input, 'hold'), input.text('reason')]
    const ops = opsOf(input)
    if (input.has('preview')) {
      const preview = await ops.previewHold({ scope, reason: reason ?? 'preview' })
      const states = Object.entries(preview.states).map(([state, tasks]) => `${tasks} ${state}`)
      const held = preview.alreadyHeld === 0 ? '' : `; ${preview.alreadyHeld} are held already`
      const which = states.length === 0 ? '' : `: ${states.join(', ')}`
      const line = `This would hold ${tasksText(preview.tasks)}${which}${held}`
      io.print(input.has('json') ? JSON.stringify(preview) : line)
      return exitCodes.ok
    }
    if (reason === undefined) throw new UsageError('--reason says why; give one')
    const result = await ops.hold({ scope, reason, holdNew: input.has('new') })
    if (input.has('json')) io.print(JSON.stringify(result))
    else {
      const held = result.outcomes.filter(({ outcome }) => /held$/.test(outcome)).length
      io.print(`${plain(result.holdId)}  holds ${tasksText(held)}`)
      const pausing = result.outcomes.filter((one) => one.pausing === true).length
      if (pausing > 0)
        io.print(`In ${tasksText(pausing)} a step was told to stop and has not ended`)
      for (const { taskId, mayStillAct } of result.outcomes) {
        if (mayStillAct !== undefined) io.print(plain(`Task ${taskId}  ${stillActs(mayStillAct)}`))
      }
      io.print(io.paint('dim', `To let them go on: ${io.self} hold lift ${plain(result.holdId)}`))
    }
    return exitCodes.ok
  },
}

export const holdList: Command = {
  name: 'hold list',
  about: 'List the holds in effect',
  flags: urlFlag,
  examples: ['hold list'],
  async run(input, io) {
    const holds = await opsOf(input).holds()
    if (input.has('json')) io.print(JSON.stringify({ holds }))
    else if (holds.length === 0) io.print('Nothing is held')
    else {
      const now = Date.now()
      for (const { holdId, scope, reason, holdNew, createdAt } of holds) {
        const covers = `${scopeText(scope)}${holdNew ? ' and new tasks' : ''}`
        io.print(`${plain(holdId)}  ${age(createdAt, now)}  ${plain(covers)}  ${plain(reason)}`)
      }
    }
    return exitCodes.ok
  },
}

export const holdLift: Command = {
  name: 'hold lift',
  args: '<hold-id>',
  about: 'Lift a hold: the tasks it stopped go on',
  flags: urlFlag,
  examples: ['hold lift <hold-id>'],
  async run(input, io) {
    const [holdId, ...more] = input.words
    if (holdId === undefined || more.length > 0) throw new UsageError('give one hold id')
    const result = await opsOf(input).lift(holdId)
    const line = `${plain(result.holdId)}  lifted from ${tasksText(result.tasks)}`
    io.print(input.has('json') ? JSON.stringify(result) : line)
    return exitCodes.ok
  },
}

/** The holds commands act on all tenants. */
function opsOf(input: Input): Ops {
  return createOps(opsOptions(serverUrl(input)))
}
