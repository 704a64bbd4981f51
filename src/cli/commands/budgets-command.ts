/** Budgets: set limits, see how far they are used, refill and remove them. */
import type { BudgetInput, BudgetResult, BudgetSummary } from '../../client/index.ts'
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
import { type Command, type Flag, type Input, type Io, UsageError } from '../command.ts'
import { expectNoWords } from '../input/read-input.ts'

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

export const budgetsCommands: readonly Command[] = [
  listCommand({
    name: 'budgets list',
    about: 'List the budgets and how far each is used',
    examples: ['budgets', 'budgets list --json'],
    member: 'budgets',
    list: (ops) => ops.budgets(),
    line: budgetLine,
    none: 'There are no budgets',
  }),
  opsCommand({
    name: 'budgets set',
    about: 'Set a budget, or change its limit; tasks that use it up are stopped',
    flags: {
      ...scopeFlags,
      ...measureFlags,
      per: { value: 'period', about: 'hour, day or life; life where it is not given' },
      ...stayFlag,
    },
    examples: [
      'budgets set --tenant acme --cost-usd 20 --per day',
      'budgets set --agent researcher --tokens 1000000 --per hour',
      'budgets set --task <task-id> --turns 50',
    ],
    call(ops, input) {
      expectNoWords(input, 'budgets set takes flags only')
      return ops.setBudget({
        scope: readScope(input, 'limit'),
        ...readLimit(input),
        ...readStay(input),
      })
    },
    lines: resultLines,
  }),
  oneIdCommand({
    name: 'budgets refill',
    names: 'budget id',
    about: 'Start the count again, or allow more; the tasks that the budget stopped go on',
    flags: {
      amount: { value: 'n', about: 'Allow so much more in this period, and keep the count' },
      ...stayFlag,
    },
    examples: ['budgets refill <budget-id>', 'budgets refill <budget-id> --amount 5'],
    call(ops, id, input) {
      const text = input.text('amount')
      const amount = text === undefined ? {} : { amount: parseAmount('amount', text) }
      return ops.refillBudget(id, { ...amount, ...readStay(input) })
    },
    lines: resultLines,
  }),
  oneIdCommand({
    name: 'budgets remove',
    names: 'budget id',
    about: 'Remove a budget; the tasks that it stopped go on',
    examples: ['budgets remove <budget-id>'],
    call: (ops, id) => ops.removeBudget(id),
    lines: ({ budgetId, resumed }) => [
      `${plain(budgetId)}  removed; ${tasksText(resumed)} resumed`,
    ],
  }),
]

function resultLines({ budget, resumed }: BudgetResult, io: Io): readonly string[] {
  return [budgetLine(budget, io), ...(resumed > 0 ? [`${tasksText(resumed)} resumed`] : [])]
}

function budgetLine(one: BudgetSummary, io: Io): string {
  const { budgetId, scope, measure, per, spent, allowed, percent, usedUp, nextPeriodAt } = one
  const used = `${spent} of ${allowed} ${measure}${per === 'life' ? '' : ` per ${per}`}`
  const share = usedUp ? io.paint('red', `${percent}%, used up`) : `${percent}%`
  const until = nextPeriodAt === undefined ? [] : [`until ${nextPeriodAt}`]
  const id = io.paint('bold', plain(budgetId))
  return [id, plain(scopeText(scope)), used, share, ...until].join('  ')
}

/** @throws UsageError unless exactly one limit is given */
function readLimit(input: Input): Pick<BudgetInput, 'measure' | 'limit' | 'per'> {
  const limits = Object.entries(measureFlags).flatMap(([flag, { measure }]) => {
    const text = input.text(flag)
    return text === undefined ? [] : [{ measure, limit: parseAmount(flag, text) }]
  })
  const [limit, second] = limits
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

function parseAmount(flag: string, text: string): number {
  const amount = Number(text)
  if (text.trim() !== '' && Number.isFinite(amount) && amount >= 0) return amount
  throw new UsageError(`--${flag} is a number that is not negative`)
}

function readStay(input: Input): { readonly resume?: false } {
  return input.has('no-resume') ? { resume: false } : {}
}
