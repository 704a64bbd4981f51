import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Agent, agent } from '../../engine/author/agent.ts'
import { counters, gauges } from '../../ports/meter.ts'
import { type RunningServer, serve } from '../serve.ts'

let directory: string
let server: RunningServer
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'lull-metrics-'))
  server = await serve({
    agents: [sleeper],
    port: 0,
    data: directory,
    log: () => undefined,
    quiet: true,
  })
})
afterEach(async () => {
  await server.close()
  rmSync(directory, { recursive: true })
})

const SECRET = 'canary-7f3a'

const sleeper: Agent = agent({
  name: 'sleeper',
  description: 'Sleeps, or waits for an event',
  run: async (task) => {
    if (task.text === 'sleep') await task.sleep(1)
    else await task.park({ reason: SECRET, onEvent: SECRET })
  },
})

const ann = { tenant: 'default', principal: `ann-${SECRET}` }

async function send(text: string) {
  const sent = await server.engine.send(ann, {
    message: { messageId: text, role: 'ROLE_USER', parts: [{ text }] },
  })
  if (sent.kind !== 'task') throw new Error('a task was expected')
  return sent.task.id
}

it('shows tasks by agent and state, commits and wakes, and nothing of callers or tasks', async () => {
  const parked = await send('wait')
  await server.engine.waitFor(ann, parked, ({ state }) => state === 'paused-by-agent')
  const slept = await send('sleep')
  await server.engine.waitFor(ann, slept, ({ state }) => state === 'completed')

  const answer = await fetch(`${server.url}/metrics`)
  expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  const text = await answer.text()
  expect(text).toContain('lull_tasks{agent="sleeper",state="paused-by-agent"} 1\n')
  expect(text).toContain('lull_tasks{agent="sleeper",state="working"} 0\n')
  expect(text).toContain('lull_wake_lateness_seconds_count 1\n')
  expect(text).toMatch(/^lull_commits_total [1-9]/m)
  expect(text).toContain('lull_ready 1\n')
  expect(text).toContain('lull_stops_total{kind="park"} 2\n')
  expect(text).toContain('lull_resumes_total{cause="condition_fired"} 1\n')
  expect(text).toContain('lull_tasks_ended_total{state="completed"} 1\n')
  expect(text).toContain('lull_task_seconds_count 1\n')
  expect(text).toContain('lull_paused_seconds_count 1\n')
  expect(text).toContain('lull_start_delay_seconds_count 2\n')
  expect(text).toContain('lull_slots{agent="sleeper",kind="limit"} 64\n')
  expect(text).not.toContain(SECRET)
  expect(text).not.toContain(parked)
})

it('has a form that Prometheus reads: help, type, then samples with numbers', async () => {
  const text = await (await fetch(`${server.url}/metrics`)).text()
  const lines = text.trimEnd().split('\n')
  for (const line of lines) {
    expect(line).toMatch(/^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[^{}]*\})? -?[0-9.e+-]+)$/)
  }
  const names = lines.filter((line) => line.startsWith('# TYPE')).map((line) => line.split(' ')[2])
  expect(new Set(names).size).toBe(names.length)
})

it('counts requests that are refused at the door', async () => {
  await fetch(`${server.url}/metrics`, { headers: { origin: 'https://evil.example.com' } })
  const text = await (await fetch(`${server.url}/metrics`)).text()
  expect(text).toMatch(/^lull_requests_refused_total\{why="[A-Z_]+"\} 1$/m)
})

it('counts calls that a limit refuses, by the limit', async () => {
  const small = await serve({
    agents: [sleeper],
    port: 0,
    data: join(directory, 'small'),
    engine: { openTasks: 1 },
    log: () => undefined,
    quiet: true,
  })
  try {
    const wait = (id: string) => ({
      message: { messageId: id, role: 'ROLE_USER' as const, parts: [{ text: 'wait' }] },
    })
    await small.engine.send(ann, wait('1'))
    await expect(small.engine.send(ann, wait('2'))).rejects.toThrow('openTasks')
    const text = await (await fetch(`${small.url}/metrics`)).text()
    expect(text).toMatch(/^lull_limits_total\{limit="openTasks[^"]*"\} 1$/m)
  } finally {
    await small.close()
  }
})

it('is described in the documentation, metric by metric', async () => {
  const text = await (await fetch(`${server.url}/metrics`)).text()
  const page = readFileSync(new URL('../../../docs/observability.md', import.meta.url), 'utf8')
  const names = [...text.matchAll(/^# TYPE (lull_\w+)/gm)].map(([, name]) => name)
  expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
})

it.each(['grafana-dashboard.json', 'prometheus-alerts.yaml'])(
  'has every metric and every label that docs/deploy/%s names',
  async (file) => {
    // A figure with labels is shown from its first value on.
    await send('sleep')
    const page = new URL(`../../../docs/deploy/${file}`, import.meta.url)
    const text = readFileSync(page, 'utf8')
    const served = await (await fetch(`${server.url}/metrics`)).text()
    const known = new Set([...served.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name))
    const named = [...text.matchAll(/\blull_[a-z_]+/g)].map(([name]) =>
      name.replace(/_(bucket|sum|count)$/, ''),
    )
    expect(named.length).toBeGreaterThan(5)
    expect(named.filter((name) => !known.has(name))).toEqual([])
    const labels = new Set([
      ...['instance', 'le'],
      ...Object.values({ ...counters, ...gauges }).flatMap(({ label }) => label ?? []),
      ...[...served.matchAll(/^lull_\w+\{(.*)\}/gm)].flatMap(([, list = '']) =>
        [...list.matchAll(/(\w+)="/g)].map(([, label = '']) => label),
      ),
    ])
    const grouped = [...text.matchAll(/ by \(([^)]*)\)/g)].flatMap(([, list = '']) =>
      list.split(', '),
    )
    const selected = [...text.matchAll(/[{,](\w+)!?=\\?"/g)].map(([, label = '']) => label)
    expect([...grouped, ...selected].filter((label) => !labels.has(label))).toEqual([])
    if (file.endsWith('.json')) expect(JSON.parse(text).panels.length).toBeGreaterThan(10)
  },
)
