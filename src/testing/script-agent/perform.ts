/** Executes each op on a `task`. */

import type { Json } from '../../core/values/json.ts'
import { reject } from '../../engine/author/agent.ts'
import type {
  AgentTask,
  Answer,
  ArtifactInput,
  Child,
  Turn,
} from '../../engine/author/agent-task.ts'
import type { ArtifactOp, ChildCall, Echoed, OpName, Ops, ScriptOp, WorkOptions } from './ops.ts'
import { splitEvenly, type Work } from './work.ts'

/** What an op needs: its task, and its turn if there is one. */
export interface Scene {
  readonly task: AgentTask
  /** The name of the script agent. Its children are tasks of the same agent. */
  readonly agent: string
  readonly turn?: Turn
  readonly work: Work
  readonly memory: Memory
  /** How many steps and tools of each name this run has called so far. */
  readonly calls: Map<string, number>
}

/**
 * Values that later ops refer to. Each run creates them anew, so they must be values that a replay
 * reproduces.
 */
export interface Memory {
  child?: Child
  answer?: Answer
  /**
   * The epoch of the last stop before the answer. Input of a later stop is newer than the answer.
   */
  answeredInEpoch?: number | undefined
}

/** The result of an op that ends the task. */
export interface Ending {
  readonly text: string
}

type Performed = Promise<Ending | undefined>

export async function performAll(
  ops: readonly ScriptOp[],
  scene: Scene,
): Promise<Ending | undefined> {
  for (const op of ops) {
    const ending = await performOne(op, scene)
    if (ending) return ending
  }
  return undefined
}

function performOne(op: ScriptOp, scene: Scene): Performed {
  const name = Object.keys(op).find((key): key is OpName => Object.hasOwn(performers, key))
  if (name === undefined) throw new Error(`no op: ${JSON.stringify(op)}`)
  return (performers[name] as (op: ScriptOp, scene: Scene) => Performed)(op, scene)
}

const performers: { readonly [N in OpName]: (op: Ops[N], scene: Scene) => Performed } = {
  // Normally `receive` answers this op before a task exists. It is executed here only in a child or
  // a follow-up.
  reply: async ({ reply }) => ({ text: reply }),
  async say({ say }, { task, turn }) {
    await task.say(say)
    turn?.record('agent', say)
  },
  async step({ step, ...manner }, scene) {
    await scene.task.step(step, workOf(scene, 'step', step, manner))
  },
  async tool({ tool, ...manner }, scene) {
    if (scene.turn === undefined) return
    const result = await scene.turn.tool(tool, workOf(scene, 'tool', tool, manner))
    scene.turn.record('tool', { name: tool, result })
  },
  async tools({ tools }, scene) {
    const { turn } = scene
    const batch = tools.map(({ name, ...manner }) => ({
      name,
      run: workOf(scene, 'tool', name, manner),
    }))
    for (const result of (await turn?.tools(batch)) ?? []) turn?.record('tool', { ...result })
  },
  async parallel({ parallel }, scene) {
    // Waits for every branch, so that no branch keeps running after another one has failed.
    const ends = await Promise.allSettled(parallel.map((branch) => performAll(branch, scene)))
    for (const end of ends) if (end.status === 'rejected') throw end.reason
    return (
      ends.map((end) => end.status === 'fulfilled' && end.value).find((end) => end) || undefined
    )
  },
  turn: ({ turn: ops }, scene) => scene.task.turn((turn) => performAll(ops, { ...scene, turn })),
  async repeat({ repeat, ops }, scene) {
    for (let round = 0; round < repeat; round++) {
      const ending = await performAll(ops, scene)
      if (ending) return ending
    }
    return undefined
  },
  async compact(_op, { task }) {
    await task.compact()
  },
  async artifact({ artifact }, { task }) {
    await performArtifact(task, artifact)
  },
  async park({ park: { reason, summary, conditions } }, { task }) {
    await task.park({ reason, ...(summary === undefined ? {} : { summary }), ...conditions })
  },
  ask: ({ ask }, { task, memory }) => hear(task, memory, task.ask(ask)),
  auth: ({ auth }, { task, memory }) => hear(task, memory, task.requireAuth(auth)),
  consent: ({ consent }, { task, memory }) => hear(task, memory, task.requireConsent(consent)),
  echo: ({ echo }, scene) => show(echo, scene),
  async usage({ usage }, { task }) {
    await task.usage(usage)
  },
  async delegate({ delegate, wait = false }, { task, agent, memory }) {
    const text = JSON.stringify({ script: delegate.script })
    memory.child = await task.delegate(agent, [{ data: JSON.parse(text) }])
    if (wait) await memory.child.result()
  },
  async child({ child: call, body }, { memory }) {
    if (memory.child === undefined) throw new Error(`child: "${call}" before any delegate`)
    await childCalls[call](memory.child, body)
  },
  async fail({ fail }) {
    throw new Error(fail)
  },
  async reject(op) {
    throw reject(op.reject)
  },
  complete: async ({ complete }) => ({ text: complete }),
}

/** Counts calls like the journal: steps and tools separately, in the order of the calls. */
function workOf(
  { task, work, calls }: Scene,
  kind: 'step' | 'tool',
  name: string,
  manner: WorkOptions,
): ReturnType<Work> {
  const occurrence = (calls.get(`${kind}:${name}`) ?? 0) + 1
  calls.set(`${kind}:${name}`, occurrence)
  return work({ taskId: task.id, name, occurrence }, manner)
}

async function hear(task: AgentTask, memory: Memory, question: Promise<Answer>): Performed {
  memory.answer = await question
  memory.answeredInEpoch = task.wake?.epoch
  return undefined
}

/** Opens a turn if there is none, for facts that only a turn has. */
async function show(what: Echoed, scene: Scene): Performed {
  const { task, turn } = scene
  if (turn === undefined && ofTurns[what]) {
    return task.turn((own) => show(what, { ...scene, turn: own }))
  }
  await task.artifact({ name: `echo-${what}`, data: toJson(seen[what](scene)) })
  return undefined
}

const ofTurns: Readonly<Record<Echoed, boolean>> = {
  reminders: true,
  transcript: true,
  messages: true,
  input: false,
  wake: false,
}

const seen: { readonly [E in Echoed]: (scene: Scene) => unknown } = {
  input({ task, memory: { answer, answeredInEpoch } }) {
    const isNewer = task.wake !== undefined && task.wake.epoch !== answeredInEpoch
    if (isNewer || answer === undefined) return task.wake?.input
    return { text: answer.text, ...('data' in answer ? { data: answer.data } : {}) }
  },
  wake: ({ task, turn }) => turn?.wake ?? task.wake,
  reminders: ({ turn }) => turn?.reminders,
  transcript: ({ turn }) => turn?.transcript,
  messages: ({ turn }) => turn?.messages,
}

const toJson = (value: unknown): Json => JSON.parse(JSON.stringify(value ?? null)) as Json

type Call = (child: Child, body: string | undefined) => Promise<unknown>

const childCalls: Readonly<Record<ChildCall, Call>> = {
  pause: (child, reason) => child.pause(reason === undefined ? {} : { reason }),
  resume: (child, input) => child.resume(input === undefined ? {} : { input }),
  cancel: (child, reason) => child.cancel(reason),
  remind: (child, body = '') => child.remind({ body }),
  wait: (child) => child.result(),
}

/** Creates the artifact as a whole, or in pieces of which all but the first are appended. */
async function performArtifact(task: AgentTask, op: ArtifactOp): Promise<void> {
  const { chunks = 1, ...given } = op
  const pieces = chunks === 1 ? [input(given)] : pieceTexts(given, chunks).map(input)
  let artifactId: string | undefined
  for (const [index, piece] of pieces.entries()) {
    const known = artifactId === undefined ? {} : { artifactId }
    const last = index === pieces.length - 1
    const made = await task.artifact({ ...piece, ...known }, { append: index > 0, last })
    artifactId = made.artifactId
  }
}

function input({ name, text, data, base64, url, mediaType }: ArtifactOp): ArtifactInput {
  const type = mediaType === undefined ? {} : { mediaType }
  if (url !== undefined) return { name, parts: [{ url, filename: name, ...type }] }
  return {
    name,
    ...type,
    ...(text === undefined ? {} : { text }),
    ...(data === undefined ? {} : { data }),
    ...(base64 === undefined ? {} : { base64 }),
  }
}

/** Splits into exactly `chunks` pieces of nearly equal size. Characters and base64 quantums are not split. */
function pieceTexts(op: ArtifactOp, chunks: number): readonly ArtifactOp[] {
  const { text, base64, ...rest } = op
  if (text !== undefined)
    return splitEvenly([...text], chunks).map((piece) => ({ ...rest, text: piece }))
  const quantums = base64?.match(/.{1,4}/g) ?? []
  return splitEvenly(quantums, chunks).map((piece) => ({ ...rest, base64: piece }))
}
