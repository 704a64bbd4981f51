/** `task.ask`, `task.requireAuth` and `task.requireConsent`. */

import { LullError } from '../../../core/errors.ts'
import { type Message, type PartInput, textOf } from '../../../core/messages/message.ts'
import { canonical } from '../../../core/receipts/canonical-json.ts'
import { sha256 } from '../../../core/receipts/sha256.ts'
import type { Decision, Question } from '../../../core/records.ts'
import type { InterruptedState } from '../../../core/states.ts'
import type { InMs } from '../../../core/values/duration.ts'
import type { Answer, AskOptions, AskRequest, ConsentRequest } from '../../author/agent-task.ts'
import { consentInput } from '../../input/inputs.ts'
import { parse } from '../../input/parse.ts'
import { Handed } from '../operation.ts'
import { agentMessage } from '../outputs/parts.ts'
import type { RunCore } from '../run-core.ts'
import { askingOf } from './asking.ts'
import type { Stop } from './stops.ts'

export interface Questions {
  ask(
    state: InterruptedState,
    content: string | readonly PartInput[] | AskRequest,
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
      waits: true,
      fingerprint,
      replay: (entry) => (entry.kind === 'ask' ? { value: entry } : undefined),
      live: () =>
        new Promise((resolve, reject) => {
          open.set(key, (reply, seq) => resolve(Handed.of({ seq, settle: () => reply })))
          stop(async () => ({ type: 'ask', key, fingerprint, question })).catch(reject)
        }),
    })
  }

  /** Asks until the answer can be read. Most wrong answers are refused when they arrive, and never come here. */
  async function ask(
    state: InterruptedState,
    content: string | readonly PartInput[] | AskRequest,
    options?: AskOptions,
  ): Promise<Answer> {
    core.notInside(state === 'auth-required' ? 'task.requireAuth' : 'task.ask', 'step')
    const { parts, facts, expires, fingerprint, read } = askingOf(content, options)
    const expiry = expiryOf(expires, host.clock.now)
    let problem: string | undefined
    for (;;) {
      const { message } = await replyTo(core.key('ask', state), fingerprint, {
        state,
        message: agentMessage(core, host.ids.uuid(), parts(problem)),
        ...(facts.choices === undefined ? {} : { choices: facts.choices }),
        ...(facts.schema === undefined ? {} : { schema: facts.schema }),
        ...expiry,
      })
      const reading = await read(message)
      if (reading.problem === undefined) return { ...toAnswer(message), ...reading }
      problem = reading.problem
    }
  }

  async function consent(request: ConsentRequest): Promise<Answer> {
    core.notInside('task.requireConsent', 'step')
    const { prompt, operation, scope, ...expires } = parse(consentInput, request)
    const digest = sha256(canonical(operation))
    const consentId = `consent-${host.ids.uuid()}`
    const reply = await replyTo(core.key('ask', 'consent'), digest, {
      state: 'user-consent-required',
      message: agentMessage(core, host.ids.uuid(), [{ text: prompt }]),
      consent: {
        consentId,
        digest,
        operation,
        ...(scope === undefined ? {} : { scope }),
        ...expiryOf(expires, host.clock.now),
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

function expiryOf(
  { expiresAt, expiresInMs }: InMs<AskOptions>,
  now: () => number,
): { readonly expiresAt?: number } {
  if (expiresAt !== undefined) return { expiresAt }
  return expiresInMs === undefined ? {} : { expiresAt: Math.ceil(now() + expiresInMs) }
}

function toAnswer(message: Message): Answer {
  const found = message.parts.find((part) => 'data' in part)
  const data = found !== undefined && 'data' in found ? { data: found.data } : {}
  return { text: textOf(message), message, ...data }
}
