/** Decides how a task is created, gets messages, and ends. */

import type { Command, Decider } from '../commands.ts'
import { refuse } from '../errors.ts'
import { evolve, fold } from '../evolve.ts'
import type { Message } from '../messages/message.ts'
import { sameSecret } from '../receipts/same-secret.ts'
import type { ConsentBy, RecordBody, Submission } from '../records.ts'
import { isInterrupted, isTerminal } from '../states.ts'
import type { Suspension } from '../suspension.ts'
import type { Task } from '../task.ts'
import { weightOf } from '../values/weight.ts'
import { hold as holdTask } from './control.ts'
import { asRun, type Decided, ending, nothing, whileOpen, write } from './decided.ts'
import { expired, policyStop, stopNow, withDeath } from './suspending.ts'
import { questionExpired } from './waking.ts'

type Of<T extends Command['type']> = Command & { readonly type: T }

/**
 * Creating an existing task has no effect, because the run of a parent repeats the command when it
 * is rebuilt.
 */
export function submit(task: Task | undefined, command: Of<'submit'>): Decided {
  if (task !== undefined) return nothing
  const { submission, run, rejection, holds } = command
  const records = [submitted(submission)]
  if (rejection !== undefined) {
    const reminders = (submission.reminders ?? []).map((reminder) => ({ reminder }))
    return write(...records, ...ending({ reminders }, { type: 'rejected', message: rejection }))
  }
  for (const hold of holds) records.push({ type: 'held', ...hold })
  if (run !== undefined && holds.length === 0) records.push({ type: 'started', run, deaths: 0 })
  return { records }
}

/** Written as a literal, because spreading so many keys is slow. */
function submitted(submission: Submission): RecordBody {
  return {
    type: 'submitted',
    taskId: submission.taskId,
    tenant: submission.tenant,
    principal: submission.principal,
    agent: submission.agent,
    contextId: submission.contextId,
    message: submission.message,
    parentId: submission.parentId,
    depth: submission.depth,
    origin: submission.origin,
    metadata: submission.metadata,
    input: submission.input,
    eventsAfter: submission.eventsAfter,
    reminders: submission.reminders,
    seen: submission.seen,
    trace: submission.trace,
  } satisfies RecordBody & { readonly [K in keyof Required<Submission>]: Submission[K] }
}

/**
 * A task whose code blocks its process is stopped after this many such deaths in a row without
 * progress.
 */
const BLOCKING_DEATHS = 2

const blocking = {
  reason: 'blocked-process',
  summary:
    'Its code held the event loop of its process for so long that the process lost its tasks, twice in a row. Move the work into a worker thread, or give the loop back now and then; then resume, or cancel.',
} as const

function crashLoop(deaths: number) {
  const summary = `The process died ${deaths} times on this task without getting any further`
  return { reason: 'crash-loop', summary } as const
}

export function start(task: Task, command: Of<'start'>, at: number): Decided {
  if (task.state !== 'submitted' && task.state !== 'working') return nothing
  if (task.run?.token !== command.from?.token) return nothing
  // After a crash while the task was quiescing, the pause takes effect before any agent code runs.
  if (task.pausing !== undefined) return write(withDeath(task, stopNow(task, at)))
  if (task.holds.length > 0) return nothing
  const { death } = command
  const counted = death === 'beside' ? task.deaths : task.deaths + 1
  const deaths = task.run === undefined ? 0 : counted
  const isBlocking = death === 'blocked' && deaths >= BLOCKING_DEATHS
  if (isBlocking || (death !== 'beside' && deaths >= command.maxDeaths)) {
    const policy = { handle: command.handle, ...(isBlocking ? blocking : crashLoop(deaths)) }
    return { records: policyStop(task, policy, true, at).map((one) => withDeath(task, one)) }
  }
  return write({ type: 'started', run: command.run, deaths })
}

export function message(task: Task, command: Of<'message'>, at: number): Decided {
  if (command.once && knowsMessage(task, command.message)) return nothing
  if (command.onlyAnswer && !isAnswerable(task)) return notAsking(task)
  return whileOpen(task, () => {
    if (isInterrupted(task.state)) return answer(task, command, at)
    if (command.consentId !== undefined) return notAsking(task)
    const { message } = command
    // Bindu and ACP can pause a question. It is answered when the task is resumed.
    if (isAnswerable(task)) {
      const { actor } = command
      if (command.wrong !== undefined) return refuse('INVALID_INPUT', command.wrong)
      return write({
        type: 'deferred',
        deferred: { kind: 'answer', message, actor },
        ...keyOf(command),
      })
    }
    return overLimit(task, command) ?? write({ type: 'message', message, ...keyOf(command) })
  })
}

/** Whether a message would answer the task's question now. Under a hold the first answer is kept, and is the only one. */
function isAnswerable({ state, suspension, deferred }: Task): boolean {
  const asks = isInterrupted(state) || suspension?.pausedFrom === 'input-required'
  return asks && deferred === undefined
}

/** Tells those who come later who was first, and when. */
function notAsking({ id: taskId, state, lastAnswer }: Task): Decided {
  if (lastAnswer === undefined) return refuse('NOT_ASKING', { taskId, state })
  const { actor, decision, at: answeredAt } = lastAnswer
  return refuse('NOT_ASKING', {
    taskId,
    state,
    ...(decision === undefined ? {} : { decision }),
    ...(actor === undefined ? {} : { answeredBy: { kind: actor.kind, id: actor.id } }),
    answeredAt,
  })
}

/** Limits the queue and the history of a task. */
function overLimit(task: Task, { message, limits }: Of<'message'>): Decided | undefined {
  if (limits === undefined) return undefined
  const { queuedMessages, queuedBytes, historyMessages, historyBytes } = limits
  const { queued, history } = task
  const checks = [
    ['queuedMessages', queuedMessages, () => queued.length >= queuedMessages],
    ['historyMessages', historyMessages, () => history.length >= historyMessages],
    ['queuedBytes', queuedBytes, () => exceeds(queued, message, queuedBytes)],
    ['historyBytes', historyBytes, () => exceeds(history, message, historyBytes)],
  ] as const
  const reached = checks.find(([, , isReached]) => isReached())
  return reached && refuse('LIMIT_EXCEEDED', { limit: reached[0], value: reached[1] })
}

/**
 * Whether adding the message would exceed `bytes`. The first message is always accepted, because
 * the request size limit already bounds it.
 */
function exceeds(messages: readonly Message[], message: Message, bytes: number): boolean {
  return messages.length > 0 && weightOf(messages) + weightOf(message) > bytes
}

function keyOf({ idempotencyKey }: Of<'message'>): { readonly idempotencyKey?: string } {
  return idempotencyKey === undefined ? {} : { idempotencyKey }
}

/**
 * Whether the task already has a message with that id, also one that waits for a hold to be lifted
 * or for a resume.
 */
export function knowsMessage({ history, deferred }: Task, { messageId }: Message): boolean {
  if (deferred?.kind === 'answer' && deferred.message.messageId === messageId) return true
  return history.some((known) => known.messageId === messageId)
}

function answer(task: Task, command: Of<'message'>, at: number): Decided {
  const { message, actor, consentId, decision, content, run } = command
  const { question } = task
  if (question === undefined) return nothing
  const key = keyOf(command)
  const consent = question.consent
  if (consentId !== undefined && !sameSecret(consentId, consent?.consentId)) {
    if (sameSecret(consentId, task.lastAnswer?.consentId)) return notAsking(task)
    return refuse('CONSENT_MISMATCH', { taskId: task.id, consentId })
  }
  // Only the first answer under a hold counts. Later messages wait for the next turn.
  if (task.deferred !== undefined && consentId !== undefined) return notAsking(task)
  if (task.deferred !== undefined)
    return overLimit(task, command) ?? write({ type: 'message', message, ...key })
  if (expired(question, at)) return questionExpired(task, `${message.messageId}-late`)
  if (command.wrong !== undefined) return refuse('INVALID_INPUT', command.wrong)
  if (consent !== undefined && decision === undefined)
    return (
      overLimit(task, command) ?? write({ type: 'asked-again', answer: message, actor, ...key })
    )
  const refused = decision === 'granted' ? whyNotYours(consent?.by, command.decider) : undefined
  if (consent !== undefined && refused !== undefined) {
    const details = { taskId: task.id, consentId: consent.consentId, why: refused }
    return refuse('CONSENT_NOT_YOURS', details)
  }
  const said = content === undefined ? {} : { content }
  const decided = consent === undefined || decision === undefined ? {} : { decision, ...said }
  if (task.holds.length > 0) {
    const deferred = { kind: 'answer', message, actor, ...decided } as const
    return write({ type: 'deferred', deferred, ...key })
  }
  const started = run === undefined ? {} : { run }
  return write({ type: 'answered', message, actor, ...decided, ...started, ...key })
}

/** Why this caller may not grant what the consent asks for. Undefined: it may. */
function whyNotYours(by: ConsentBy | undefined, decider: Decider | undefined): string | undefined {
  if (by === undefined) return undefined
  if (by === 'other') {
    const isOther = decider !== undefined && !decider.isStarter
    return isOther ? undefined : 'it asks for somebody else than the one who started the task'
  }
  if ('principal' in by) {
    return decider?.principal === by.principal ? undefined : `it asks for ${by.principal}`
  }
  const has = decider?.scopes.includes(by.withScope)
  return has ? undefined : `it asks for somebody with the scope ${by.withScope}`
}

export function cancel(task: Task, command: Of<'cancel'>): Decided {
  const { actor, reason } = command
  return whileOpen(task, () => ({
    records: ending(task, { type: 'canceled', actor, ...(reason === undefined ? {} : { reason }) }),
  }))
}

export function complete(task: Task, command: Of<'complete'>): Decided {
  const { message, artifact, run } = command
  const last: RecordBody =
    message === undefined ? { type: 'completed' } : { type: 'completed', message }
  return asRun(task, run, () => {
    const records = ending(task, last)
    return { records: artifact === undefined ? records : [artifact, ...records] }
  })
}

export function fail(task: Task, command: Of<'fail'>): Decided {
  const { message, failure, run } = command
  return asRun(task, run, () => ({ records: ending(task, { type: 'failed', message, failure }) }))
}

export function reject(task: Task, command: Of<'reject'>): Decided {
  const { message, run } = command
  return asRun(task, run, () => ({ records: ending(task, { type: 'rejected', message }) }))
}

/**
 * Resets the count of dead processes: they count against a task that runs, not against one that
 * only waits for its children.
 */
export function wait(task: Task, command: Of<'wait'>): Decided {
  return asRun(task, command.run, () =>
    task.run === undefined || task.deaths === 0
      ? nothing
      : write({ type: 'started', run: task.run, deaths: 0 }),
  )
}

/** A process that stops gives up its task. A pause that waited for a boundary commits now. */
export function release(task: Task, command: Of<'release'>, at: number): Decided {
  return asRun(task, command.run, () =>
    task.pausing === undefined
      ? write({
          type: 'released',
          reason: command.reason,
          ...(command.inFlight ? { inFlight: true } : {}),
        })
      : write(stopNow(task, at)),
  )
}

/**
 * Decides a fork: a task begins with the recorded past of another. It begins paused, so that its
 * first receipt can name its origin.
 */
export function fork(
  task: Task | undefined,
  { past, forked, stop, holds }: Command & { readonly type: 'fork' },
  at: number,
): Decided {
  if (task !== undefined) return nothing
  const origin = fold(past)
  const suspension: Suspension = {
    ...stop,
    epoch: (origin?.epoch ?? 0) + 1,
    initiator: 'client',
    mode: 'interrupt_immediate',
    requestedAt: at,
    pausedFrom: 'working',
    byFork: true,
    eventsAfter: 0,
  }
  const records: RecordBody[] = [
    { type: 'forked', ...forked },
    ...holds.map((hold) => ({ type: 'held', ...hold }) as const),
    { type: 'pause-requested', suspension },
    { type: 'paused', handle: stop.handle },
  ]
  return { copied: past, records }
}

/**
 * Decides an import: a task begins with a log from another store, followed by a record of the
 * import and of the holds that cover it.
 * An imported task that has ended gets no stop, because nothing may follow the last record of such
 * a task.
 */
export function importLog(
  task: Task | undefined,
  { log, imported, handle, holds }: Command & { readonly type: 'import' },
  at: number,
): Decided {
  if (task !== undefined) return nothing
  let next = fold(log)
  if (next === undefined || isTerminal(next.state)) return { copied: log, records: [] }
  const records: RecordBody[] = []
  const append = (body: RecordBody): void => {
    records.push(body)
    next = evolve(next, { ...body, seq: (next?.version ?? 0) + 1, at })
  }
  append(imported)
  for (const hold of holds) {
    const held = holdTask(next, { type: 'hold', hold, handle, atBoundary: true }, at)
    for (const body of held.records ?? []) append(body)
  }
  return { copied: log, records }
}
