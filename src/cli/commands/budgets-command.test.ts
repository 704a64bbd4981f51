/** Budgets and rules from the command line, against a real server. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type RunningServer, serve } from '../../server/serve.ts'
import { scriptAgent } from '../../testing/index.ts'
import { runCli } from '../run-cli.ts'
import { createFakeIo } from '../test-support/fake-io.ts'

let server: RunningServer
beforeAll(async () => {
  const quiet = { log: () => undefined, quiet: true }
  server = await serve({ agents: [scriptAgent], port: 0, store: 'memory', ...quiet })
})
afterAll(() => server.close())

async function run(...args: readonly string[]) {
  const io = createFakeIo()
  const code = await runCli([...args, '--url', server.url], io)
  return { code, out: io.out.join('\n'), err: io.err.join('\n') }
}

async function send(script: readonly object[]): Promise<{ id: string; state: string }> {
  const io = createFakeIo()
  await runCli(['send', server.url, JSON.stringify({ script }), '--json'], io)
  const { task } = JSON.parse(io.out.join('')) as {
    task: { id: string; status: { state: string } }
  }
  return { id: task.id, state: task.status.state }
}

const spend = (tokens: number) => [{ usage: { inputTokens: tokens } }, { step: 'next' }]

it('sets, lists, refills and removes a budget', async () => {
  expect((await run('budgets')).out).toBe('There are no budgets')
  const set = await run('budgets', 'set', '--agent', 'script', '--tokens', '100')
  expect(set.out).toMatch(/^budget-\S+ {2}agent script {2}0 of 100 tokens {2}0%$/)
  const [budgetId = ''] = set.out.split(' ')
  const { id } = await send(spend(120))
  expect((await run('budgets', 'list')).out).toContain('120 of 100 tokens  120%, used up')
  const resumed = await run('tasks', 'resume', id)
  expect([resumed.code, resumed.err]).toEqual([
    1,
    expect.stringContaining('120 of 100 tokens of agent script'),
  ])
  const refilled = await run('budgets', 'refill', budgetId, '--amount', '50')
  expect(refilled.out).toContain('120 of 150 tokens  80%\n1 task resumed')
  expect((await run('budgets', 'remove', budgetId)).out).toBe(
    `${budgetId}  removed; 0 tasks resumed`,
  )
  const audit = await run('audit', '--json')
  for (const action of ['budget.set', 'budget.refill', 'budget.remove']) {
    expect(audit.out).toContain(`"action":"${action}"`)
  }
})

it('adds, tests, lists and removes a rule that an event fires', async () => {
  const rule = ['--on-event', 'incident', '--agent', 'script', '--reason', 'incident']
  const added = await run('rules', 'add', ...rule)
  const [ruleId = ''] = added.out.split(' ')
  expect((await run('rules')).out).toBe(`${ruleId}  incident  agent script  incident`)
  await send([{ park: { reason: 'waits' } }])
  expect((await run('events', 'emit', 'incident')).code).toBe(0)
  expect((await run('hold', 'list')).out).toContain('agent script  incident')
  expect((await run('rules', 'test', '--dry-run', ...rule)).out).toContain('fired once')
  expect((await run('rules', 'remove', ruleId)).out).toBe(`${ruleId}  removed`)
  const [holdId = ''] = (await run('hold', 'list')).out.split(' ')
  expect((await run('hold', 'lift', holdId)).out).toContain('lifted from 1 task')
})

it.each([
  [['budgets', 'set', '--tokens', '5'], 'say what to limit'],
  [['budgets', 'set', '--all'], 'give one limit'],
  [['budgets', 'set', '--all', '--tokens', 'many'], '--tokens is a number'],
  [['budgets', 'set', '--all', '--tokens', '5', '--per', 'week'], '--per is'],
  [['budgets', 'refill'], 'give one budget id'],
  [['rules', 'add', '--all', '--filter', 'x'], '--filter is a JSON object'],
  [['rules', 'add', '--all', '--on-event', 'x', '--mode', 'slow'], '--mode is one of'],
  [['rules', 'remove'], 'give one rule id'],
])('refuses %j: %s', async (args, problem) => {
  const { code, err } = await run(...args)
  expect([code, err]).toEqual([2, expect.stringContaining(problem)])
})
