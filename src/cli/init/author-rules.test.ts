/** Each rule of the AGENTS.md that `lull init` writes: an agent that breaks it shows what the rule says. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { agent } from '../../engine/author/agent.ts'
import type { AgentTask } from '../../engine/author/agent-task.ts'
import { testEngine } from '../../testing/test-engine.ts'

const page = readFileSync(new URL('../../../templates/AGENTS.md', import.meta.url), 'utf8')
const [rulesPart = ''] = page.split('## Commands')
const rules = [...rulesPart.matchAll(/^- \*\*(.+?)\*\*/gm)].map(([, rule = '']) => rule)

type Run = (task: AgentTask) => Promise<string>
const made = (run: Run, more: { readonly strict?: true } = {}) =>
  agent({ name: 'mistaken', description: 'Breaks a rule', run, ...more })

/** Runs until the agent asks, kills the process, answers, and runs until the task is in that state. */
async function askedAndKilled(run: Run, state: 'completed' | 'failed' = 'completed') {
  const engine = await testEngine({ agents: [made(run)] })
  const { id } = await engine.send('go')
  await engine.until(id, 'input-required')
  await engine.crash()
  await engine.answer(id, 'on')
  const task = await engine.until(id, state)
  return { engine, id, text: JSON.stringify(task.statusMessage?.parts) }
}

/** Runs a task to its end, and then its code over the record. */
async function replayed(run: Run): Promise<unknown> {
  const engine = await testEngine({ agents: [made(run)] })
  const { id } = await engine.send('go')
  await engine.until(id, 'completed')
  return engine.replay(id)
}

let moduleVariable = 0

const mistakes: Readonly<Record<string, () => Promise<unknown>>> = {
  'Code between two operations runs again.': async () => {
    let ran = 0
    await askedAndKilled(async (task) => {
      ran++
      await task.ask('Well?')
      return 'done'
    })
    expect(ran).toBe(2)
  },

  'Take time, randomness and ids from the task:': async () => {
    let random = 0
    const run = (read: (task: AgentTask) => number): Run => {
      return (task) => task.step(`work ${read(task)}`, () => 'done')
    }
    // Math.random() by another name, so that the test is the same each time.
    await expect(replayed(run(() => ++random))).rejects.toThrow(/replay|state|log/i)
    await replayed(run((task) => task.random()))
  },

  'Keep state in variables of `run`.': async () => {
    const run: Run = (task) => task.step(`work ${++moduleVariable}`, () => 'done')
    await expect(replayed(run)).rejects.toThrow(/replay|state|log/i)
  },

  'Everything with an effect goes into `task.step(name, fn)`:': async () => {
    const effects: string[] = []
    await askedAndKilled(async (task) => {
      effects.push('outside')
      await task.step('send', () => void effects.push('in a step'))
      await task.ask('Well?')
      return 'done'
    })
    expect(effects).toEqual(['outside', 'in a step', 'outside'])
  },

  'A step may begin twice,': async () => {
    const keys: string[] = []
    const slow: Run = async (task) => {
      await task.step('pay', async ({ idempotencyKey, signal }) => {
        keys.push(idempotencyKey)
        if (keys.length > 1) return
        await new Promise((_, reject) => signal.addEventListener('abort', reject))
      })
      return 'paid'
    }
    const engine = await testEngine({ agents: [made(slow)] })
    const { id } = await engine.send('go')
    await expect.poll(() => keys.length).toBe(1)
    await engine.crash()
    await engine.until(id, 'completed')
    expect(keys).toHaveLength(2)
    expect(keys[1]).toBe(keys[0])
  },

  'A step returns JSON.': async () => {
    const engine = await testEngine({
      // @ts-expect-error The compiler refuses a Date, too.
      agents: [made(async (task) => String(await task.step('day', () => new Date(0))))],
    })
    const { id } = await engine.send('go')
    const task = await engine.until(id, 'failed')
    expect(JSON.stringify(task)).toContain('Date')
  },

  'Await every step.': async () => {
    const run: Run = async (task) => {
      void task.step('forgotten', () => Promise.resolve())
      return 'done'
    }
    const engine = await testEngine({ agents: [made(run, { strict: true })] })
    const { id } = await engine.send('go')
    const task = await engine.until(id, 'failed')
    expect(JSON.stringify(task)).toContain('forgotten')
  },

  'Steps that run in parallel need different names,': async () => {
    // The branches come in another order when the code runs again, as branches that wait for requests do.
    const run = (keyed: boolean): Run => {
      let order = ['a', 'b']
      return async (task) => {
        const branch = (name: string) =>
          task.step('load', () => name, keyed ? { key: name } : {}).then((got) => `${name}=${got}`)
        const got = await Promise.all(order.map(branch))
        order = order.toReversed()
        await task.ask('Well?')
        return got.toSorted().join(' ')
      }
    }
    expect((await askedAndKilled(run(false))).text).toContain('a=b b=a')
    expect((await askedAndKilled(run(true))).text).toContain('a=a b=b')
  },

  'Wait with `task.ask`, `task.park` or `task.sleep`.': async () => {
    let begun = 0
    const run: Run = async (task) => {
      await new Promise<void>((resolve) => {
        begun++
        // A timer that has passed before the crash, and starts anew after it.
        setTimeout(resolve, 1)
      })
      await task.ask('Well?')
      return 'done'
    }
    await askedAndKilled(run)
    expect(begun).toBe(2)
  },

  'Stop the task outside of steps.': async () => {
    const run: Run = (task) => task.step('ask', async () => (await task.ask('Well?')).text)
    const engine = await testEngine({ agents: [made(run)] })
    const { id } = await engine.send('go')
    const task = await engine.until(id, 'failed')
    expect(JSON.stringify(task)).toMatch(/inside a step|in a step/)
  },

  'Append steps.': async () => {
    const before: Run = async (task) => {
      await task.step('first', () => 1)
      await task.ask('Well?')
      return 'done'
    }
    const inserted = (options: { readonly added?: true }): Run => {
      return async (task) => {
        await task.step('inserted', () => 0, options)
        return before(task)
      }
    }
    expect(await afterDeployment(before, inserted({}))).toBe('code-changed')
    expect(await afterDeployment(before, inserted({ added: true }))).toBe('completed')
  },

  'Mark a step that you must insert': () => mistakes['Append steps.']?.() ?? Promise.reject(),

  'End each test with `engine.replay(id)`.': () =>
    mistakes['Keep state in variables of `run`.']?.() ?? Promise.reject(),

  'Call `engine.crash()` while the task waits,': () =>
    mistakes['Everything with an effect goes into `task.step(name, fn)`:']?.() ?? Promise.reject(),
}

/** What becomes of a task that asked under the code before. */
async function afterDeployment(before: Run, after: Run): Promise<string | undefined> {
  const engine = await testEngine({ agents: [made(before)] })
  const { id } = await engine.send('go')
  await engine.until(id, 'input-required')
  await engine.crash({ agents: [made(after)] })
  await engine.answer(id, 'on')
  await engine.advance('5 seconds')
  const task = await engine.until(id, ({ state }) => /completed|paused/.test(state))
  return task.state === 'completed' ? task.state : task.suspension?.reason
}

it('the page has about forty lines', () => {
  expect(page.split('\n').length).toBeLessThanOrEqual(45)
})

it('every rule has a mistake here', () => {
  expect(rules).toEqual(Object.keys(mistakes))
})

it.each(rules)('%s', async (rule) => {
  await mistakes[rule]?.()
})
