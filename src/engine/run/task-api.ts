/** Puts the pieces of a run together into the `task` its author sees. */
import { textOf } from '../../core/message.ts'
import type { Task } from '../../core/task.ts'
import type { AgentTask } from '../agent-task.ts'
import type { Conversation, ConversationArtifact } from '../conversation.ts'
import type { Children } from './children.ts'
import type { RunCore } from './core.ts'
import type { Outputs } from './outputs.ts'
import { pickArtifact } from './pick-artifact.ts'
import { quietly } from './quietly.ts'
import type { Steps } from './step.ts'
import type { Stops } from './stops.ts'
import type { Turns } from './turns.ts'

export interface TaskParts {
  readonly core: RunCore
  readonly steps: Steps
  readonly stops: Stops
  readonly outputs: Outputs
  readonly turns: Turns
  readonly children: Children
  readonly conversation: Conversation
  readonly referenced: readonly Task[]
  /** Made when it is looked at: few agents do. */
  readonly signal: () => AbortSignal
  /** Ends this run and begins the next one from `state`. */
  readonly continueAs: AgentTask['continueAs']
}

export function createTaskApi(parts: TaskParts): AgentTask {
  const { core, steps, stops, outputs, turns, children, conversation, signal } = parts
  const { host } = core
  const task = core.task()
  const message = task.history[0] as AgentTask['message']
  const referenced = {
    tasks: parts.referenced,
    artifacts: referencedArtifacts(message, parts.referenced, conversation),
  }

  const api: AgentTask = {
    id: task.id,
    contextId: task.contextId,
    text: textOf(message),
    message,
    get messages() {
      return turns.heard()
    },
    metadata: task.metadata ?? {},
    principal: task.principal,
    tenant: task.tenant,
    get signal() {
      return signal()
    },
    context: conversation,
    referenced,
    state: task.journal.state,
    get wake() {
      return core.journal.wakes.look()
    },

    step: (name, code, options) => quietly(() => steps.run('step', name, code, options)),
    turn: (code) => quietly(() => turns.run(code)),
    park: (park) => quietly(() => stops.park(park)),
    sleep: (ms) => quietly(() => stops.sleep(ms)),
    ask: (question, options) =>
      quietly(() => stops.ask('input-required', question, options).then(heard)),
    requireAuth: (question, options) =>
      quietly(() => stops.ask('auth-required', question, options).then(heard)),
    requireConsent: (request) => quietly(() => stops.consent(request).then(heard)),
    pickArtifact: (name) => quietly(() => pickArtifact(api, name)),

    say: (content) => quietly(() => outputs.say(content)),
    progress: (fraction, text) => quietly(() => outputs.progress(fraction, text)),
    artifact: (artifact, options) => quietly(() => outputs.artifact(artifact, options)),
    artifactStream: (name, about) => outputs.stream(name, about),
    delegate: (agent, content) => quietly(() => children.delegate(agent, content)),
    usage: (usage) => quietly(() => outputs.usage(usage)),
    compact: () => quietly(() => turns.compact()),
    continueAs: (state) => quietly(() => parts.continueAs(state)),

    now: () => core.value('now', host.clock.now),
    uuid: () => core.value('uuid', host.ids.uuid),
    random: () => core.value('random', host.ids.random),
    log: (level, text, facts) =>
      host.log(level, text, { ...facts, taskId: task.id, agent: task.agent }),
  }

  function heard<A extends { readonly message: AgentTask['message'] }>(answer: A): A {
    turns.hear(answer.message)
    return answer
  }
  return api
}

/** Artifacts a part names in its metadata: `referenceArtifacts: [{artifactId, taskId}]`. */
function referencedArtifacts(
  message: AgentTask['message'],
  tasks: readonly Task[],
  conversation: Conversation,
): readonly ConversationArtifact[] {
  const named = message.parts.flatMap((part) => {
    const list = part.metadata?.['referenceArtifacts']
    return Array.isArray(list) ? list : []
  })
  const known = [
    ...conversation.artifacts,
    ...tasks.flatMap((task) => task.artifacts.map((artifact) => ({ taskId: task.id, artifact }))),
  ]
  return named.flatMap((reference: unknown) => {
    if (typeof reference !== 'object' || reference === null) return []
    const { artifactId, taskId } = reference as { artifactId?: unknown; taskId?: unknown }
    const found = known.find(
      (one) =>
        one.artifact.artifactId === artifactId && (taskId === undefined || one.taskId === taskId),
    )
    return found === undefined ? [] : [found]
  })
}
