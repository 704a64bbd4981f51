/**
 * An agent that executes the script in its message. With it, clients, conformance runs and
 * benchmarks can produce any situation without a model:
 *
 *   {"script": [{"step": "build", "ms": 50}, {"ask": "Ship it?"}, {"complete": "shipped"}]}
 */
import { type Agent, agent, Rejection } from '../../engine/author/agent.ts'
import type { Clock } from '../../ports/clock.ts'
import { conventionFor } from './conventions.ts'
import type { ScriptOp } from './ops.ts'
import { parseScript } from './parse-script.ts'
import { type Ending, type Memory, performAll, type Scene } from './perform.ts'
import { createEffectsFile, createWork, type Effects } from './work.ts'

export interface ScriptAgentOptions {
  /** Default: `script`. */
  readonly name?: string
  readonly version?: string
  /** The clock for the `ms` of steps. Default: the system's timers. */
  readonly clock?: Pick<Clock, 'now' | 'after'>
  /**
   * Gets a line for every execution of a step. Default: the file named by `LULL_EFFECTS`, if any.
   */
  readonly effects?: Effects
}

export function createScriptAgent(options: ScriptAgentOptions = {}): Agent {
  const { name = 'script', version, clock = timers, effects = createEffectsFile() } = options
  const work = createWork(clock, effects)

  return agent({
    name,
    ...(version === undefined ? {} : { version }),
    description:
      'Does what the message says: a script of steps, stops and outputs, without a model',
    skills: [
      {
        id: 'script',
        name: 'Script',
        description: 'Runs the ops of {"script": [op, …]} in order; echoes any other text',
        tags: ['testing'],
        examples: ['{"script": [{"step": "build", "ms": 50}, {"complete": "built"}]}'],
      },
    ],
    receive(message, { reply, reject }) {
      try {
        const first = (parseScript(message) ?? conventionFor(message))?.[0]
        return first !== undefined && 'reply' in first ? reply(first.reply) : undefined
      } catch (error) {
        if (error instanceof Rejection) return reject(error.message)
        throw error
      }
    },
    async run(task) {
      const scene: Scene = { task, agent: name, work, memory: {}, calls: new Map() }
      const script = parseScript(task.message)
      if (script !== undefined) return (await performAll(script, scene))?.text
      const ops = conventionFor(task.message)
      if (ops !== undefined) return (await performConvention(ops, scene))?.text
      await task.artifact({ name: 'echo', parts: task.message.parts })
      return undefined
    },
    compact: (transcript) => [
      {
        turn: transcript.at(-1)?.turn ?? 0,
        role: 'digest',
        content: `${transcript.length} entries, compacted`,
      },
    ],
  })
}

/** Runs a script. If it ends with a question, the prefix of the answer selects the next script. */
async function performConvention(
  ops: readonly ScriptOp[],
  scene: Scene,
): Promise<Ending | undefined> {
  const memory: Memory = {}
  const ending = await performAll(ops, { ...scene, memory })
  const next = memory.answer && conventionFor(memory.answer.message)
  return ending ?? (next && performConvention(next, scene))
}

/** These timers do not keep the process alive, like those of every `Clock`. */
const timers: Pick<Clock, 'now' | 'after'> = {
  now: Date.now,
  after(ms, callback) {
    const timer = setTimeout(callback, ms)
    timer.unref()
    return () => clearTimeout(timer)
  },
}

/** The script agent that writes its effects to the file named by `LULL_EFFECTS`. */
export const scriptAgent: Agent = createScriptAgent()
