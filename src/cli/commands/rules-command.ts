/** Rules: holds that an event or a budget places. */
import type { RuleInput, RuleSummary } from '../../client/index.ts'
import { scopeText } from '../../client/ops-client.ts'
import { plain } from '../../core/values/printable.ts'
import type { EventFilter } from '../../core/waiting/conditions.ts'
import { filterText } from '../../core/waiting/wait-text.ts'
import {
  listCommand,
  oneIdCommand,
  opsCommand,
  readScope,
  scopeFlags,
  tasksText,
} from '../call-command.ts'
import { type Command, type Flag, type Input, type Io, UsageError } from '../command.ts'
import { expectNoWords } from '../input/read-input.ts'

const modes = ['interrupt_immediate', 'finish_step', 'wait_for_completion'] as const

const ruleFlags: Readonly<Record<string, Flag>> = {
  'on-event': { value: 'name', about: 'Fired by events of this type, or type:subject' },
  filter: { value: 'json', about: 'Fired by events that pass this CloudEvents filter' },
  budget: { value: 'id', about: 'Fired by this budget' },
  percent: { value: 'n', about: 'With --budget: when so much of it is used; 100 by default' },
  ...scopeFlags,
  reason: { value: 'text', about: 'Why; shown with the hold and its tasks' },
  mode: { value: 'mode', about: `How tasks are stopped: ${modes.join(', ')}` },
  new: { about: 'Hold tasks that are yet to come, too' },
}

export const rulesCommands: readonly Command[] = [
  listCommand({
    name: 'rules list',
    about: 'List the rules. Each places a hold when it is fired',
    examples: ['rules', 'rules list --json'],
    member: 'rules',
    list: (ops) => ops.rules(),
    line: ruleLine,
    none: 'There are no rules',
  }),
  opsCommand({
    name: 'rules add',
    about: 'Add a rule: an event or a budget stops the tasks in a scope',
    flags: ruleFlags,
    examples: [
      'rules add --on-event incident.opened --tenant acme --reason "incident" --new',
      'rules add --budget <budget-id> --percent 90 --agent researcher --reason "nearly used up"',
    ],
    call: (ops, input) => ops.addRule(readRule(input)),
    lines: (rule, io) => [ruleLine(rule, io)],
  }),
  oneIdCommand({
    name: 'rules remove',
    names: 'rule id',
    about: 'Remove a rule; holds that it has placed stay until they are lifted',
    examples: ['rules remove <rule-id>'],
    call: (ops, id) => ops.removeRule(id),
    lines: ({ ruleId }) => [`${plain(ruleId)}  removed`],
  }),
  opsCommand({
    name: 'rules test',
    about: 'Say what such a rule would have stopped in the last day; stops nothing',
    flags: { ...ruleFlags, 'dry-run': { about: 'Stop nothing; this is always so' } },
    examples: ['rules test --dry-run --on-event incident.opened --tenant acme --reason incident'],
    call: (ops, input) => ops.dryRunRule(readRule(input)),
    lines({ since, fired, tasks, truncated, firings }) {
      const times = fired === 1 ? 'once' : `${fired} times`
      return [
        `Since ${since} it would have fired ${times} and stopped ${tasksText(tasks)}`,
        ...(truncated ? ['More events or tasks are stored than were looked at'] : []),
        ...firings.map(
          ({ cause, type, at, tasks: stopped }) =>
            `${at}  ${plain(type ?? 'budget')}  ${plain(cause)}  ${tasksText(stopped)}`,
        ),
      ]
    },
  }),
]

/** The server checks that there is exactly one cause. */
function readRule(input: Input): RuleInput {
  expectNoWords(input, 'a rule is given with flags only')
  const [onEvent, filter, budget] = ['on-event', 'filter', 'budget'].map((flag) => input.text(flag))
  const wanted = input.text('mode')
  const mode = modes.find((one) => one === wanted)
  if (wanted !== mode) throw new UsageError(`--mode is one of ${modes.join(', ')}`)
  return {
    ...(onEvent === undefined ? {} : { onEvent }),
    ...(filter === undefined ? {} : { filter: parseFilter(filter) }),
    ...(budget === undefined ? {} : { budget: { id: budget, percent: readPercent(input) } }),
    scope: readScope(input, 'stop'),
    reason: input.text('reason') ?? 'a rule was fired',
    holdNew: input.has('new'),
    ...(mode === undefined ? {} : { mode }),
  }
}

function readPercent(input: Input): number {
  const percent = Number(input.text('percent') ?? 100)
  if (percent >= 1) return percent
  throw new UsageError('--percent is a number from 1')
}

function parseFilter(text: string): Readonly<Record<string, unknown>> {
  try {
    const filter: unknown = JSON.parse(text)
    if (typeof filter === 'object' && filter !== null) return { ...filter }
  } catch {
    // Not JSON.
  }
  throw new UsageError('--filter is a JSON object, such as {"prefix":{"type":"incident."}}')
}

function ruleLine(rule: RuleSummary, io: Io): string {
  const { ruleId, onEvent, filter, budget, scope, holdNew, reason } = rule
  const cause =
    onEvent ??
    (budget && `${budget.percent}% of ${budget.id}`) ??
    `events where ${filterText(filter as EventFilter)}`
  const covers = `${scopeText(scope)}${holdNew ? ' and new tasks' : ''}`
  return [io.paint('bold', plain(ruleId)), plain(cause), plain(covers), plain(reason)].join('  ')
}
