/** Budgets: set limits, see how far they are used, refill and remove them. */
import type { BudgetInput, BudgetSummary } from '../../client/index.ts'
import { createOps, type Ops, scopeText } from '../../client/ops-client.ts'
import { plain } from '../../core/printable.ts'
import { type Command, exitCodes, type Flag, type Input, type Io, UsageError } from '../command.ts'
import { scopeFlags, scopeIn, tasksText } from '../input/scope-flags.ts'
import { opsOptions, serverUrl, urlFlag } from '../input/server-access.ts'

const measureFlags: Readonly<Record<string, Flag & { readonly measure: BudgetInput['measure'] }>> =
  {
    tokens: { measure: 'tokens', value: 'n', about: 'Input and output tokens together' },
    'input-tokens': { measure: 'inputTokens', value: 'n', about: 'Input tokens' },
    'output-tokens': { measure: 'outputTokens', value: 'n', about: 'Output tokens' },
    'cost-usd': { measure: 'costUsd', value: 'n', about: 'Cost in dollars' },
    'wall-ms': { measure: 'wallMs', value: 'ms', about: 'Running time in milliseconds' },
    turns: { measure: 'turns', value: 'n', about: 'Turns' },
  }

const stayFlag: Readonly<Record<string, Flag>> = {
  'no-resume': { about: 'Leave the tasks stopped that the budget has stopped' },
}

export const budgetsList: Command = {
  name: 'budgets list',
  about: 'List the budgets and how far each is used',
  flags: urlFlag,
  examples: ['budgets', 'budgets list --json'],
  async run(input, io) {
    const budgets = await opsOf(input).budgets()
    if (input.has('json')) io.print(JSON.stringify({ budgets }))
    else if (budgets.length === 0) io.print('There are no budgets')
    else for (const one of budgets) io.print(lineOf(one, io))
    return exitCodes.ok
  },
}

export const budgetsSet: Command = {
  name: 'budgets set',
  about: 'Set a budget, or change its limit; tasks that use it up are stopped',
  flags: {
    ...scopeFlags,
    ...measureFlags,
    per: { value: 'period', about: 'hour, day or life; life where it is not given' },
    ...stayFlag,
    ...urlFlag,
  },
  examples: [
    'budgets set --tenant acme --cost-usd 20 --per day',
    'budgets set --agent researcher --tokens 1000000 --per hour',
    'budgets set --task <task-id> --turns 50',
  ],
  async run(input, io) {
    if (input.words.length > 0) throw new UsageError('budgets set takes flags only')
    const set = { scope: scopeIn(input, 'limit'), ...limitIn(input), ...stayIn(input) }
    const result = await opsOf(input).setBudget(set)
    return answer(input, io, result)
  },
}

export const budgetsRefill: Command = {
  name: 'budgets refill',
  args: '<budget-id>',
  about: 'Start the count again, or allow more; the tasks that the budget stopped go on',
  flags: {
    amount: { value: 'n', about: 'Allow so much more in this period, and keep the count' },
    ...stayFlag,
    ...urlFlag,
  },
  examples: ['budgets refill <budget-id>', 'budgets refill <budget-id> --amount 5'],
  async run(input, io) {
    const text = input.text('amount')
    const amount = text === undefined ? {} : { amount: numberIn('amount', text) }
    const refill = { ...amount, ...stayIn(input) }
    return answer(input, io, await opsOf(input).refillBudget(idIn(input), refill))
  },
}

export const budgetsRemove: Command = {
  name: 'budgets remove',
  args: '<budget-id>',
  about: 'Remove a budget; the tasks that it stopped go on',
  flags: urlFlag,
  examples: ['budgets remove <budget-id>'],
  async run(input, io) {
    const result = await opsOf(input).removeBudget(idIn(input))
    const line = `${plain(result.budgetId)}  removed; ${tasksText(result.resumed)} resumed`
    io.print(input.has('json') ? JSON.stringify(result) : line)
    return exitCodes.ok
  },
}

function answer(
  input: Input,
  io: Io,
  result: { readonly budget: BudgetSummary; readonly resumed: number },
): (typeof exitCodes)['ok'] {
  if (input.has('json')) io.print(JSON.stringify(result))
  else {
    io.print(lineOf(result.budget, io))
    if (result.resumed > 0) io.print(`${tasksText(result.resumed)} resumed`)
  }
  return exitCodes.ok
}

function lineOf(one: BudgetSummary, io: Io): string {
  const { budgetId, scope, measure, per, spent, allowed, percent, usedUp, nextPeriodAt } = one
  const used = `${spent} of ${allowed} ${measure}${per === 'life' ? '' : ` per ${per}`}`
  const share = usedUp ? io.paint('red', `${percent}%, used up`) : `${percent}%`
  const until = nextPeriodAt === undefined ? [] : [`until ${nextPeriodAt}`]
  const id = io.paint('bold', plain(budgetId))
  return [id, plain(scopeText(scope)), used, share, ...until].join('  ')
}

/** @throws UsageError unless exactly one limit is given */
function limitIn(input: Input): Pick<BudgetInput, 'measure' | 'limit' | 'per'> {
  const given = Object.entries(measureFlags).flatMap(([flag, { measure }]) => {
    const text = input.text(flag)
    return text === undefined ? [] : [{ measure, limit: numberIn(flag, text) }]
  })
  const [limit, second] = given
  if (limit === undefined || second !== undefined) {
    throw new UsageError(`give one limit: --${Object.keys(measureFlags).join(', --')}`)
  }
  const per = input.text('per')
  if (per === undefined) return limit
  if (per !== 'hour' && per !== 'day' && per !== 'life') {
    throw new UsageError('--per is hour, day or life')
  }
  return { ...limit, per }
}

function numberIn(flag: string, text: string): number {
  const amount = Number(text)
  if (text.trim() !== '' && Number.isFinite(amount) && amount >= 0) return amount
  throw new UsageError(`--${flag} is a number that is not negative`)
}

function stayIn(input: Input): { readonly resume?: false } {
  return input.has('no-resume') ? { resume: false } : {}
}

function idIn(input: Input): string {
  const [id, ...more] = input.words
  if (id === undefined || more.length > 0) throw new UsageError('give one budget id')
  return id
}

function opsOf(input: Input): Ops {
  return createOps(opsOptions(serverUrl(input)))
}
