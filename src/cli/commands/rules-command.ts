/** Rules: holds that an event or a budget places. */
import type { RuleInput, RuleSummary } from '../../client/index.ts'
import { createOps, type Ops, scopeText } from '../../client/ops-client.ts'
import type { EventFilter } from '../../core/conditions.ts'
import { plain } from '../../core/printable.ts'
import { filterText } from '../../core/wait-text.ts'
import { type Command, exitCodes, type Flag, type Input, type Io, UsageError } from '../command.ts'
import { scopeFlags, scopeIn, tasksText } from '../input/scope-flags.ts'
import { opsOptions, serverUrl, urlFlag } from '../input/server-access.ts'

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
  ...urlFlag,
}

export const rulesList: Command = {
  name: 'rules list',
  about: 'List the rules. Each places a hold when it is fired',
  flags: urlFlag,
  examples: ['rules', 'rules list --json'],
  async run(input, io) {
    const rules = await opsOf(input).rules()
    if (input.has('json')) io.print(JSON.stringify({ rules }))
    else if (rules.length === 0) io.print('There are no rules')
    else for (const rule of rules) io.print(lineOf(rule, io))
    return exitCodes.ok
  },
}

export const rulesAdd: Command = {
  name: 'rules add',
  about: 'Add a rule: an event or a budget stops the tasks in a scope',
  flags: ruleFlags,
  examples: [
    'rules add --on-event incident.opened --tenant acme --reason "incident" --new',
    'rules add --budget <budget-id> --percent 90 --agent researcher --reason "nearly used up"',
  ],
  async run(input, io) {
    const rule = await opsOf(input).addRule(ruleIn(input))
    io.print(input.has('json') ? JSON.stringify(rule) : lineOf(rule, io))
    return exitCodes.ok
  },
}

export const rulesRemove: Command = {
  name: 'rules remove',
  args: '<rule-id>',
  about: 'Remove a rule; holds that it has placed stay until they are lifted',
  flags: urlFlag,
  examples: ['rules remove <rule-id>'],
  async run(input, io) {
    const [id, ...more] = input.words
    if (id === undefined || more.length > 0) throw new UsageError('give one rule id')
    const result = await opsOf(input).removeRule(id)
    io.print(input.has('json') ? JSON.stringify(result) : `${plain(result.ruleId)}  removed`)
    return exitCodes.ok
  },
}

export const rulesTest: Command = {
  name: 'rules test',
  about: 'Say what such a rule would have stopped in the last day; stops nothing',
  flags: { ...ruleFlags, 'dry-run': { about: 'Stop nothing; this is always so' } },
  examples: ['rules test --dry-run --on-event incident.opened --tenant acme --reason incident'],
  async run(input, io) {
    const run = await opsOf(input).dryRunRule(ruleIn(input))
    if (input.has('json')) io.print(JSON.stringify(run))
    else {
      const times = run.fired === 1 ? 'once' : `${run.fired} times`
      io.print(
        `Since ${run.since} it would have fired ${times} and stopped ${tasksText(run.tasks)}`,
      )
      if (run.truncated) io.print('More events or tasks are stored than were looked at')
      for (const { cause, type, at, tasks } of run.firings) {
        io.print(`${at}  ${plain(type ?? 'budget')}  ${plain(cause)}  ${tasksText(tasks)}`)
      }
    }
    return exitCodes.ok
  },
}

/** The server says when there is not exactly one cause. */
function ruleIn(input: Input): RuleInput {
  if (input.words.length > 0) throw new UsageError('a rule is given with flags only')
  const [onEvent, filter, budget] = ['on-event', 'filter', 'budget'].map((flag) => input.text(flag))
  const mode = modes.find((one) => one === input.text('mode'))
  if (input.text('mode') !== undefined && mode === undefined) {
    throw new UsageError(`--mode is one of ${modes.join(', ')}`)
  }
  return {
    ...(onEvent === undefined ? {} : { onEvent }),
    ...(filter === undefined ? {} : { filter: filterIn(filter) }),
    ...(budget === undefined ? {} : { budget: { id: budget, percent: percentIn(input) } }),
    scope: scopeIn(input, 'stop'),
    reason: input.text('reason') ?? 'a rule was fired',
    holdNew: input.has('new'),
    ...(mode === undefined ? {} : { mode }),
  }
}

function percentIn(input: Input): number {
  const percent = Number(input.text('percent') ?? 100)
  if (percent >= 1) return percent
  throw new UsageError('--percent is a number from 1')
}

function filterIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const filter: unknown = JSON.parse(text)
    if (typeof filter === 'object' && filter !== null) return { ...filter }
  } catch {
    // Not JSON.
  }
  throw new UsageError('--filter is a JSON object, such as {"prefix":{"type":"incident."}}')
}

function lineOf(rule: RuleSummary, io: Io): string {
  const { ruleId, onEvent, filter, budget, scope, holdNew, reason } = rule
  const cause =
    onEvent ??
    (budget && `${budget.percent}% of ${budget.id}`) ??
    `events where ${filterText(filter as EventFilter)}`
  const covers = `${scopeText(scope)}${holdNew ? ' and new tasks' : ''}`
  return [io.paint('bold', plain(ruleId)), plain(cause), plain(covers), plain(reason)].join('  ')
}

function opsOf(input: Input): Ops {
  return createOps(opsOptions(serverUrl(input)))
}
