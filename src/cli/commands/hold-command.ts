/** Holds: stop many tasks at once, see the holds in effect, and lift them. */
import type { HoldPreview, HoldResult, HoldSummary } from '../../client/index.ts'
import { scopeText } from '../../client/ops-client.ts'
import { plain } from '../../core/values/printable.ts'
import {
  listCommand,
  oneIdCommand,
  opsCommand,
  readScope,
  scopeFlags,
  tasksText,
} from '../call-command.ts'
import { type Command, type Io, printResult, UsageError } from '../command.ts'
import { expectNoWords } from '../input/read-input.ts'
import { opsOf, urlFlag } from '../input/server-access.ts'
import { ageText, stillActs } from '../views/render.ts'

export const holdCommands: readonly Command[] = [
  {
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
      expectNoWords(input, 'hold takes flags only')
      const [scope, reason] = [readScope(input, 'hold'), input.text('reason')]
      const ops = opsOf(input)
      if (input.has('preview')) {
        const preview = await ops.previewHold({ scope })
        return printResult(input, io, preview, [previewLine(preview)])
      }
      if (reason === undefined) throw new UsageError('--reason says why; give one')
      const result = await ops.hold({ scope, reason, holdNew: input.has('new') })
      return printResult(input, io, result, holdLines(result, io))
    },
  },
  listCommand({
    name: 'hold list',
    about: 'List the holds in effect',
    examples: ['hold list'],
    member: 'holds',
    list: (ops) => ops.holds(),
    line({ holdId, scope, tasks = 0, reason, holdNew, createdAt }) {
      const more = tasks > listedIds(scope) ? `, … (${tasksText(tasks)})` : ''
      const covers = `${scopeText(scope)}${more}${holdNew ? ' and new tasks' : ''}`
      return `${plain(holdId)}  ${ageText(createdAt, Date.now())}  ${plain(covers)}  ${plain(reason)}`
    },
    none: 'Nothing is held',
  }),
  oneIdCommand({
    name: 'hold lift',
    names: 'hold id',
    about: 'Lift a hold: the tasks it stopped go on',
    examples: ['hold lift <hold-id>'],
    call: (ops, id) => ops.lift(id),
    lines: ({ holdId, tasks }) => [`${plain(holdId)}  lifted from ${tasksText(tasks)}`],
  }),
]

function previewLine({ tasks, states, alreadyHeld }: HoldPreview): string {
  const counts = Object.entries(states).map(([state, count]) => `${count} ${state}`)
  const which = counts.length === 0 ? '' : `: ${counts.join(', ')}`
  const held = alreadyHeld === 0 ? '' : `; ${alreadyHeld} are held already`
  return `This would hold ${tasksText(tasks)}${which}${held}`
}

function* holdLines({ holdId, outcomes }: HoldResult, io: Io): Generator<string> {
  const held = outcomes.filter(({ outcome }) => /held$/.test(outcome)).length
  yield `${plain(holdId)}  holds ${tasksText(held)}`
  const pausing = outcomes.filter((one) => one.pausing === true).length
  if (pausing > 0) yield `In ${tasksText(pausing)} a step was told to stop and has not ended`
  for (const { taskId, mayStillAct } of outcomes) {
    if (mayStillAct !== undefined) yield plain(`Task ${taskId}  ${stillActs(mayStillAct)}`)
  }
  yield io.paint('dim', `To let them go on: ${io.self} hold lift ${plain(holdId)}`)
}

function listedIds({ taskIds }: HoldSummary['scope']): number {
  return Array.isArray(taskIds) ? taskIds.length : 0
}
