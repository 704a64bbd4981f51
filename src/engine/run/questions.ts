/** `task.ask`, `task.requireAuth` and `task.requireConsent`. */
import { canonical } from '../../core/canonical-json.ts'
import { LullError } from '../../core/errors.ts'
import { type Message, type Part, textOf } from '../../core/message.ts'
import type { Decision, Question } from '../../core/records.ts'
import type { InterruptedState } from '../../core/states.ts'
import type { Answer, AskOptions, ConsentRequest } from '../agent-task.ts'
import { askOptionsInput, consentInput } from '../inputs.ts'
import { parse } from '../parse.ts'
import { agentMessage, partsOf } from './parts.ts'
import type { RunCore } from './run-core.ts'
import type { Stop } from './stops.ts'

export interface Questions {
  ask(
    state: InterruptedState,
    content: string | readonly Part[],
    options?: AskOptions,
  ): Promise<Answer>
  consent(request: ConsentRequest): Promise<Answer>
  /** The question of that key is recorded. */
  asked(key: string): void
  answered(message: Message, decision: Decision | undefined, seq: number): void
}

interface Reply {
  readonly message: Message
  readonly decision?: Decision | undefined
}

export function createQuestions(core: RunCore, stop: Stop): Questions {
  const { host } = core
  const open = new Map<string, (reply: Reply, seq: number) => void>()
  /** The key of the question that is in effect. */
  let current: string | undefined

  function replyTo(key: string, fingerprint: string, question: Question): Promise<Reply> {
    return core.perform<Reply>({
      key,
      fingerprint,
      replay: (entry) => (entry.kind === 'ask' ? { value: entry } : undefined),
      live: () =>
        new Promise((resolve, reject) => {
          open.set(key, (reply, seq) => resolve({ seq, settle: () => reply }))
          stop(async () => ({ type: 'ask', key, fingerprint, question })).catch(reject)
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
    const message = agentMessage(core, host.ids.uuid(), parts)
    const reply = await replyTo(core.key('ask', state), canonical(parts), {
      state,
      message,
      ...(expiresAt === undefined ? {} : { expiresAt }),
    })
    return toAnswer(reply.message)
  }

  async function consent(request: ConsentRequest): Promise<Answer> {
    core.notInside('task.requireConsent', 'step')
    const { prompt, operation, scope, expiresAt } = parse(consentInput, request)
    const digest = host.hash(canonical(operation))
    const consentId = `consent-${host.ids.uuid()}`
    const reply = await replyTo(core.key('ask', 'consent'), digest, {
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
    ask,
    consent,
    asked(key) {
      current = key
    },
    answered(message, decision, seq) {
      if (current !== undefined) open.get(current)?.({ message, decision }, seq)
      current = undefined
    },
  }
}

function toAnswer(message: Message): Answer {
  const found = message.parts.find((part) => 'data' in part)
  const data = found !== undefined && 'data' in found ? { data: found.data } : {}
  return { text: textOf(message), message, ...data }
}
