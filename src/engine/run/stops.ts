/** Where a run stops by its own wish: parks and questions. Nothing else of the run moves until it is over (gate, G3). */
import { canonical } from '../../core/canonical-json.ts'
import { LullError } from '../../core/errors.ts'
import { toIso } from '../../core/instant.ts'
import { type Message, type Part, textOf } from '../../core/message.ts'
import type { Decision, Question } from '../../core/records.ts'
import type { InterruptedState } from '../../core/states.ts'
import type { Wake } from '../../core/suspension.ts'
import type { Answer, AskOptions, ConsentRequest, Park } from '../agent-task.ts'
import { askOptionsInput, consentInput, parkInput } from '../inputs.ts'
import { parse } from '../parse.ts'
import type { RunCore } from './core.ts'
import type { RunAct } from './line.ts'
import { agentMessage, partsOf } from './parts.ts'

export interface Stops {
  park(park: Park, fingerprint?: string): Promise<Wake>
  sleep(ms: number): Promise<Wake>
  ask(
    state: InterruptedState,
    content: string | readonly Part[],
    options?: AskOptions,
  ): Promise<Answer>
  consent(request: ConsentRequest): Promise<Answer>
  /** A question of this run took effect. */
  asked(key: string): void
  /** The park of that key is over. */
  woken(key: string, wake: Wake, seq: number): void
  answered(message: Message, decision: Decision | undefined, seq: number): void
}

interface Reply {
  readonly message: Message
  readonly decision?: Decision | undefined
}

/** A thousand years, as for timeouts. */
const LONGEST_MS = 31_622_400_000_000

export function createStops(core: RunCore): Stops {
  const { host, gate } = core
  const parks = new Map<string, (wake: Wake, seq: number) => void>()
  const questions = new Map<string, (reply: Reply, seq: number) => void>()
  /** The key of the question that is in effect. */
  let current: string | undefined

  function park(given: Park, fingerprint?: string): Promise<Wake> {
    core.notInside(fingerprint === undefined ? 'task.park' : 'task.sleep', 'step')
    const { reason, summary, ...rest } = given
    const { conditions } = parse(parkInput, { reason, summary, conditions: rest })
    const armed = conditions && Object.keys(conditions).length > 0 ? conditions : undefined
    host.fireAt(armed) // refused here, before anything is written
    const key = core.key('park')
    const print = fingerprint ?? canonical(armed ?? {})
    return core.perform<Wake>({
      key,
      fingerprint: print,
      replay: (entry) => (entry.kind === 'park' ? { value: entry.result } : undefined),
      live: () =>
        new Promise((resolve, reject) => {
          const act = async (): Promise<RunAct> => {
            const fireAt = host.fireAt(armed)
            return {
              type: 'park',
              key,
              fingerprint: print,
              handle: `suspend-${host.ids.uuid()}`,
              reason,
              ...(summary === undefined ? {} : { summary }),
              ...(armed === undefined ? {} : { conditions: armed }),
              ...(fireAt === undefined ? {} : { fireAt }),
              eventsNow: armed?.since === 'now' ? await host.eventsNow() : 0,
            }
          }
          parks.set(key, (wake, seq) => resolve({ seq, settle: () => wake }))
          stop(act).catch(reject)
        }),
    })
  }

  /** Tries until the stop took effect: one that meets a pause under way waits for the resume. */
  async function stop(act: () => Promise<RunAct>): Promise<void> {
    await core.flush()
    for (;;) {
      const { records } = await gate.duringStop(async () => core.persist(await act()))
      if (records.length > 0) return
    }
  }

  function sleep(ms: number): Promise<Wake> {
    if (!(ms >= 0 && ms <= LONGEST_MS)) {
      const problem = `must be a number of milliseconds from 0 to ${LONGEST_MS}`
      throw new LullError('INVALID_INPUT', { path: 'ms', problem })
    }
    const at = toIso(Math.ceil(host.clock.now() + ms))
    // The instant differs on every run; what the code asks for is the span.
    return park({ reason: `sleeping for ${ms} ms`, trigger: { at } }, `sleep:${ms}`)
  }

  function question(key: string, fingerprint: string, asked: Question): Promise<Reply> {
    return core.perform<Reply>({
      key,
      fingerprint,
      replay: (entry) => (entry.kind === 'ask' ? { value: entry } : undefined),
      live: () =>
        new Promise((resolve, reject) => {
          questions.set(key, (reply, seq) => resolve({ seq, settle: () => reply }))
          stop(async () => ({ type: 'ask', key, fingerprint, question: asked })).catch(reject)
        }),
    })
  }

  async function ask(
    state: InterruptedState,
    content: string | readonly Part[],
    options: AskOptions = {},
  ): Promise<Answer> {
    core.notInside(state === 'auth-required' ? 'task.requireAuth' : 'task.ask', 'step')
    const { expiresAt } = parse(askOptionsInput, options, 'options')
    const parts = partsOf(content)
    const message = core.host.ids.uuid()
    const reply = await question(core.key('ask', state), canonical(parts), {
      state,
      message: agentMessage(core, message, parts),
      ...(expiresAt === undefined ? {} : { expiresAt }),
    })
    return toAnswer(reply.message)
  }

  async function consent(request: ConsentRequest): Promise<Answer> {
    core.notInside('task.requireConsent', 'step')
    const { prompt, operation, scope, expiresAt } = parse(consentInput, request)
    const digest = host.hash(canonical(operation))
    const consentId = `consent-${host.ids.uuid()}`
    const reply = await question(core.key('ask', 'consent'), digest, {
      state: 'user-consent-required',
      message: agentMessage(core, host.ids.uuid(), [{ text: prompt }]),
      consent: {
        consentId,
        digest,
        operation,
        ...(scope === undefined ? {} : { scope }),
        ...(expiresAt === undefined ? {} : { expiresAt }),
      },
    })
    if (reply.decision !== 'granted') throw new LullError('CONSENT_DENIED', { prompt })
    return toAnswer(reply.message)
  }

  return {
    park,
    sleep,
    ask,
    consent,
    asked(key) {
      current = key
    },
    woken(key, wake, seq) {
      parks.get(key)?.(wake, seq)
      parks.delete(key)
    },
    answered(message, decision, seq) {
      if (current !== undefined) questions.get(current)?.({ message, decision }, seq)
      current = undefined
    },
  }
}

function toAnswer(message: Message): Answer {
  const found = message.parts.find((part) => 'data' in part)
  const data = found !== undefined && 'data' in found ? { data: found.data } : {}
  return { text: textOf(message), message, ...data }
}
