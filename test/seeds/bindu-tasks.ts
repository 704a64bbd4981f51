/** Tasks in every state the Bindu document knows, behind a real server, and what is said of them in its words. */
import { expect } from 'vitest'
import { type Agent, agent } from '../../src/index.ts'
import { createScriptAgent } from '../../src/testing/script-agent/script-agent.ts'
import type { Loose } from './examples.ts'
import type { Harness } from './harness.ts'

/** What really ran: `begin|end|abort <task> <name> …`, in order. */
const lines: string[] = []
export const effects = (line: string): void => {
  lines.push(line)
}

/** `single` runs one task at a time: what comes second waits in `submitted`. */
export const binduAgents: readonly Agent[] = [
  createScriptAgent({ effects }),
  agent({ ...createScriptAgent({ name: 'single', effects }), concurrency: 1 }),
]

/** The steps of the task that began, each time they did. */
export function begunSteps(id: string): readonly string[] {
  return lines
    .filter((line) => line.startsWith(`begin ${id} `))
    .map((line) => line.split(' ')[2] ?? '')
}

/** A boundary every few milliseconds, without end. */
const busy = [{ repeat: 4_000, ops: [{ step: 'tick', ms: 5 }] }]

const HOUR_MS = 3_600_000

const scripts: Readonly<Record<string, readonly object[]>> = {
  working: busy,
  'input-required': [{ ask: 'Which one?' }, { echo: 'input' }],
  'auth-required': [{ auth: 'Please sign in' }],
  'user-consent-required': [{ consent: { prompt: 'Really?', operation: {} } }],
  'paused-by-agent': [{ park: { reason: 'waiting' } }, { complete: 'woken' }],
  completed: [{ complete: 'done' }],
  failed: [{ fail: 'on purpose' }],
  rejected: [{ reject: 'on purpose' }],
}

export interface Bindu {
  /** A task in this state; its id. */
  inState(state: string, message?: object): Promise<string>
  suspended(): Promise<string>
  pause(id: string): Promise<Loose>
  resume(id: string): Promise<Loose>
  get(id: string): Promise<Loose>
  /** Code and name of the refusal. */
  refusal(method: string, id: string): Promise<readonly [number, string]>
  /** How often it has been stopped so far, which only the RFC's words tell. */
  stops(id: string): Promise<number>
}

export const notPausable = [-32040, 'TaskNotPausableError'] as const
export const notResumable = [-32041, 'TaskNotResumableError'] as const
export const notFound = [-32001, 'TaskNotFoundError'] as const

export function binduOn(harness: () => Harness): Bindu {
  const call = (method: string) => (id: string) => harness().result(method, { task_id: id })
  const pause = call('tasks/pause')

  let inTheWay: Promise<Loose> | undefined

  async function queued(): Promise<string> {
    inTheWay ??= harness().script([{ step: 'in the way', ms: HOUR_MS }], {}, 'single')
    await harness().until((await inTheWay).id, 'working')
    const { id } = await harness().script([{ step: 'one' }, { ask: 'More?' }], {}, 'single')
    expect((await harness().get(id)).status.state).toBe('submitted')
    return id
  }

  async function inState(state: string, message: object = {}): Promise<string> {
    if (state === 'submitted') return queued()
    if (state === 'canceled') {
      const id = await inState('working', message)
      await harness().result('tasks/cancel', { task_id: id })
      return id
    }
    const script = scripts[state]
    if (script === undefined) throw new Error(`no way to ${state}`)
    const { id } = await harness().script(script, message)
    await harness().until(id, state)
    return id
  }

  return {
    inState,
    async suspended() {
      const id = await inState('working')
      await pause(id)
      return id
    },
    pause,
    resume: call('tasks/resume'),
    get: call('tasks/get'),
    async refusal(method, id) {
      const { code, data } = await harness().error(method, { task_id: id })
      return [code, data.error]
    },
    async stops(id) {
      return (await harness().get(id)).metadata?.['urn:lull:a2a:task-control:1']?.epoch ?? 0
    },
  }
}
