/** What callers, operators and faults do in a simulated history. For tests only. */
import { alice, message } from '../engine-harness.ts'
import { type Act, type Alphabet, call, type History, join, root, someTask } from './history.ts'
import { eventOf } from './scripted-agent.ts'

const send: Act = (history) => {
  const { random, live, checks, taskIds, alphabet } = history
  const text = Array.from({ length: 1 + random.below(4) }, () =>
    random.pick(alphabet.letters),
  ).join('')
  const idempotencyKey = random.chance(0.4) ? `key-${random.below(3)}` : undefined
  const request = {
    message: message(idempotencyKey === undefined ? text : `s${idempotencyKey.at(-1)}`, {
      messageId: idempotencyKey ?? `m-${random.below(2 ** 31)}`,
    }),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  }
  for (let times = random.chance(0.3) ? 2 : 1; times > 0; times--) {
    const process = random.pick(live)
    if (process === undefined) return
    const key = times === 1 && idempotencyKey === undefined ? undefined : idempotencyKey
    call(history, process.engine.send(alice, request), (sent) => {
      if (sent.kind !== 'task') return
      taskIds.add(sent.task.id)
      checks.sent(sent.task.id, key)
      checks.read(process, sent.task.id)
    })
    if (idempotencyKey === undefined) return
  }
}

const acts: readonly Act[] = [
  send,
  send,
  send,
  (history) => {
    const { random, live, checks } = history
    const taskId = someTask(history)
    const mode = random.pick(['finish_step', 'interrupt_immediate'] as const) ?? 'finish_step'
    const pausing = random.pick(live)?.engine.pause(alice, { taskId, mode })
    if (pausing !== undefined) call(history, pausing, ({ handle }) => checks.paused(taskId, handle))
  },
  (history) => resume(history, someTask(history)),
  (history) => emit(history, someTask(history)),
  (history) => emit(history, someTask(history)),
  (history) => {
    const { random, live, checks } = history
    const taskId = someTask(history)
    const message_ = message('more', { taskId, messageId: `follow-up-${random.below(2 ** 31)}` })
    const idempotencyKey = `follow-${random.below(2 ** 31)}`
    const processes = [random.pick(live), random.pick(live)]
    for (const process of processes) {
      const sending = process?.engine.send(alice, { message: message_, idempotencyKey })
      if (sending !== undefined)
        call(history, sending, () => checks.followedUp(taskId, message_.messageId))
    }
  },
  (history) => {
    const { random, live, checks, holds } = history
    const request = { scope: { all: true } as const, reason: 'sim', holdNew: random.chance(0.7) }
    const holding = random.pick(live)?.engine.hold(root, request)
    if (holding === undefined) return
    call(history, holding, ({ holdId }) => {
      holds.add(holdId)
      checks.held(holdId, request.holdNew)
    })
  },
  (history) => lift(history),
  (history) => {
    const { random, live, faults, stopped } = history
    const process = random.pick(live)
    if (!faults.kills || live.length < 2 || process === undefined) return
    process.crash()
    live.splice(live.indexOf(process), 1)
    stopped.delete(process)
    call(history, join(history))
  },
  (history) => {
    const { random, live, faults, stopped, cluster } = history
    const process = random.pick(live)
    if (!faults.stops || process === undefined || stopped.has(process)) return
    stopped.add(process)
    cluster.stop(process)
  },
  (history) => {
    const { random, stopped, cluster } = history
    const process = random.pick([...stopped])
    if (process === undefined) return
    stopped.delete(process)
    cluster.goOn(process)
  },
  (history) => {
    const { random, live, faults, stopped, checks } = history
    const process = random.pick(live.filter((one) => !stopped.has(one)))
    if (!faults.drains || live.length < 2 || process === undefined) return
    live.splice(live.indexOf(process), 1)
    checks.track(process.engine.drain({ timeoutMs: 1_000 }).then(process.crash))
    call(history, join(history))
  },
]

/** What callers and operators do, and the faults of `faults.ts`. */
export const plain: Alphabet = { letters: ['s', 's', 's', 'p', 'e', 't', 'c', 'k'], acts }

export function resume(history: History, taskId: string): void {
  const { random, live, checks } = history
  const resuming = random.pick(live)?.engine.resume(alice, { taskId })
  if (resuming !== undefined)
    call(history, resuming, ({ handle }) => checks.resumed(taskId, handle))
}

export function emit(history: History, taskId: string): void {
  const { random, live } = history
  const id = `event-${random.below(2 ** 31)}`
  const event = { id, source: 'simulation', type: eventOf(taskId) }
  const emitting = random.pick(live)?.engine.emit(alice, [event])
  if (emitting !== undefined) call(history, emitting)
}

export function lift(history: History): void {
  const { random, live, checks, holds } = history
  for (const holdId of holds) {
    checks.lifting(holdId)
    const lifting = random.pick(live)?.engine.lift(root, holdId)
    if (lifting !== undefined) call(history, lifting, () => holds.delete(holdId))
  }
}
