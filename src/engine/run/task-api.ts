/** Puts the operations of a run together into the `task` its author sees. */
import { textOf } from '../../core/message.ts'
import type { Task } from '../../core/task.ts'
import type { AgentTask, Answer } from '../agent-task.ts'
import type { Conversation, ConversationArtifact } from '../conversation.ts'
import type { Operations } from './operations.ts'
import { pickArtifact } from './pick-artifact.ts'
import { quietly } from './quietly.ts'

export interface TaskParts {
  readonly operations: Operations
  readonly conversation: Conversation
  readonly referenced: readonly Task[]
  /** Ends this run and begins the next one from `state`. */
  readonly continueAs: AgentTask['continueAs']
}

export const createTaskApi = (parts: TaskParts): AgentTask => new TaskApi(parts)

/**
 * A class for its getters (`operations.ts` says why); what can be called is an own function all the same, so that
 * `const { step, park } = task` works.
 */
class TaskApi implements AgentTask {
  readonly #operations: Operations
  readonly #parts: TaskParts
  readonly #born: Task
  readonly message: AgentTask['message']
  readonly id: string
  readonly contextId: string
  readonly metadata: AgentTask['metadata']
  readonly principal: string
  readonly tenant: string
  readonly context: Conversation
  readonly state: AgentTask['state']

  constructor(parts: TaskParts) {
    const born = parts.operations.core.task
    this.#parts = parts
    this.#operations = parts.operations
    this.#born = born
    this.message = born.history[0] as AgentTask['message']
    this.id = born.id
    this.contextId = born.contextId
    this.metadata = born.metadata ?? {}
    this.principal = born.principal
    this.tenant = born.tenant
    this.context = parts.conversation
    this.state = born.journal.state
  }

  get text(): string {
    return textOf(this.message)
  }
  get messages(): AgentTask['messages'] {
    return this.#operations.turns.heard()
  }
  get signal(): AbortSignal {
    return this.#operations.signal()
  }
  get wake(): AgentTask['wake'] {
    return this.#operations.core.journal.wakes.look()
  }
  get referenced(): AgentTask['referenced'] {
    const { referenced: tasks, conversation } = this.#parts
    return { tasks, artifacts: referencedArtifacts(this.message, tasks, conversation) }
  }

  readonly step: AgentTask['step'] = (name, code, options) =>
    quietly(() => this.#operations.steps.run('step', name, code, options))
  readonly turn: AgentTask['turn'] = (code) => quietly(() => this.#operations.turns.run(code))
  readonly park: AgentTask['park'] = (park) => quietly(() => this.#operations.stops.park(park))
  readonly sleep: AgentTask['sleep'] = (ms) => quietly(() => this.#operations.stops.sleep(ms))
  readonly ask: AgentTask['ask'] = (question, options) =>
    quietly(() => this.#heard(this.#operations.stops.ask('input-required', question, options)))
  readonly requireAuth: AgentTask['requireAuth'] = (question, options) =>
    quietly(() => this.#heard(this.#operations.stops.ask('auth-required', question, options)))
  readonly requireConsent: AgentTask['requireConsent'] = (request) =>
    quietly(() => this.#heard(this.#operations.stops.consent(request)))
  readonly pickArtifact: AgentTask['pickArtifact'] = (name) =>
    quietly(() => pickArtifact(this, name))

  readonly say: AgentTask['say'] = (content) => quietly(() => this.#operations.outputs.say(content))
  readonly progress: AgentTask['progress'] = (fraction, text) =>
    quietly(() => this.#operations.outputs.progress(fraction, text))
  readonly artifact: AgentTask['artifact'] = (artifact, options) =>
    quietly(() => this.#operations.outputs.artifact(artifact, options))
  readonly artifactStream: AgentTask['artifactStream'] = (name, about) =>
    this.#operations.outputs.stream(name, about)
  readonly delegate: AgentTask['delegate'] = (agent, content) =>
    quietly(() => this.#operations.children.delegate(agent, content))
  readonly usage: AgentTask['usage'] = (usage) =>
    quietly(() => this.#operations.outputs.usage(usage))
  readonly compact: AgentTask['compact'] = () => quietly(() => this.#operations.turns.compact())
  readonly continueAs: AgentTask['continueAs'] = (state) =>
    quietly(() => this.#parts.continueAs(state))

  readonly now: AgentTask['now'] = () => {
    const { core } = this.#operations
    return core.value('now', core.host.clock.now)
  }
  readonly uuid: AgentTask['uuid'] = () => {
    const { core } = this.#operations
    return core.value('uuid', core.host.ids.uuid)
  }
  readonly random: AgentTask['random'] = () => {
    const { core } = this.#operations
    return core.value('random', core.host.ids.random)
  }
  readonly log: AgentTask['log'] = (level, text, facts) => {
    const { id: taskId, agent } = this.#born
    this.#operations.core.host.log(level, text, { ...facts, taskId, agent })
  }

  async #heard(asking: Promise<Answer>): Promise<Answer> {
    const answer = await asking
    this.#operations.turns.hear(answer.message)
    return answer
  }
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
