/** Stops that the agent's code asks for: parks and questions. No other operation of the run starts meanwhile (G3 of `gate.ts`). */

import { LullError } from '../../../core/errors.ts'
import { type Message, type Part, type PartInput, textOf } from '../../../core/messages/message.ts'
import { valuesIn } from '../../../core/messages/message-values.ts'
import {
  chosenIn,
  type QuestionFacts,
  questionParts,
} from '../../../core/messages/question-part.ts'
import { canonical } from '../../../core/receipts/canonical-json.ts'
import { sha256 } from '../../../core/receipts/sha256.ts'
import type { Decision, DecisionContent, Question } from '../../../core/records.ts'
import type { InterruptedState } from '../../../core/states.ts'
import type { InMs } from '../../../core/values/duration.ts'
import type { JsonObject } from '../../../core/values/json.ts'
import type {
  Answer,
  AskOptions,
  AskRequest,
  Consent,
  ConsentRequest,
} from '../../author/agent-task.ts'
import { jsonSchemaOf, type StandardSchemaV1, validate } from '../../author/standard-schema.ts'
import { askInput, askOptionsInput, consentInput } from '../../input/inputs.ts'
import { parse } from '../../input/parse.ts'
import { HandedIn } from '../operation-runner.ts'
import type { RunCore } from '../run-core.ts'
import type { Passed } from './one-stop.ts'
import { makeAgentMessage, readParts } from './outputs.ts'
import { createParks, type Parks, type Stop } from './parks.ts'

export interface Stops extends Parks {
  ask(
    state: InterruptedState,
    content: string | readonly PartInput[] | AskRequest,
    options?: AskOptions,
  ): Promise<Answer>
  consent(request: ConsentRequest): Promise<Consent>
  /** The question of that key is recorded. */
  asked(key: string): void
  answered(reply: Reply, seq: number): void
}

export function createStops(core: RunCore): Stops {
  /**
   * Tries until the stop is recorded. While a pause is under way, the stop waits for the resume. While the stop is written,
   * no result is handed out: what the code would read after it could not be written any more.
   */
  const stop: Stop = async ({ reacted, refusal }, act) => {
    await core.flush()
    await reacted
    const refused = refusal()
    if (refused !== undefined) throw refused
    for (;;) {
      const { records } = await core.gate.duringStop(async () => {
        const made = await act()
        return core.releaser.without(() => core.persist(made))
      })
      if (records.length > 0) return
    }
  }
  return { ...createParks(core, stop), ...createQuestions(core, stop) }
}

export interface Reply {
  readonly message: Message
  readonly decision?: Decision | undefined
  readonly content?: DecisionContent | undefined
}

/** `task.ask`, `task.requireAuth` and `task.requireConsent`. */
function createQuestions(core: RunCore, stop: Stop): Omit<Stops, keyof Parks> {
  const { host } = core
  const open = new Map<string, (reply: Reply, seq: number) => void>()
  /** The key of the question that is in effect. */
  let current: string | undefined

  function replyTo(
    passed: Passed,
    key: string,
    fingerprint: string,
    question: Question,
  ): Promise<Reply> {
    return core.perform<Reply>({
      key,
      waits: true,
      fingerprint,
      replay: (entry) => (entry.kind === 'ask' ? { value: entry } : undefined),
      live: () =>
        new Promise((resolve, reject) => {
          open.set(key, (reply, seq) => resolve(HandedIn.of({ seq, settle: () => reply })))
          stop(passed, async () => ({ type: 'ask', key, fingerprint, question })).catch(reject)
        }),
    })
  }

  /** Asks until the answer can be read. Most wrong answers are refused when they arrive, and never come here. */
  async function askUntilRead(
    passed: Passed,
    state: InterruptedState,
    content: string | readonly PartInput[] | AskRequest,
    options?: AskOptions,
  ): Promise<Answer> {
    const { parts, facts, expires, fingerprint, read } = readAsking(content, options)
    const expiry = readExpiry(expires, host.clock.now)
    let problem: string | undefined
    for (;;) {
      const { message } = await replyTo(passed, core.key('ask', state), fingerprint, {
        state,
        message: makeAgentMessage(core, host.ids.uuid(), parts(problem)),
        ...(facts.choices === undefined ? {} : { choices: facts.choices }),
        ...(facts.schema === undefined ? {} : { schema: facts.schema }),
        ...expiry,
      })
      const reading = await read(message)
      if (reading.problem === undefined) return { ...toAnswer(message), ...reading }
      problem = reading.problem
    }
  }

  async function askConsent(passed: Passed, request: ConsentRequest): Promise<Consent> {
    const { prompt, operation, scope, by, editable, ...expires } = parse(consentInput, request)
    const shape = editable && jsonSchemaOf(editable)
    const digest = sha256(canonical(operation))
    const consentId = `consent-${host.ids.uuid()}`
    const reply = await replyTo(passed, core.key('ask', 'consent'), digest, {
      state: 'user-consent-required',
      message: makeAgentMessage(core, host.ids.uuid(), [{ text: prompt }]),
      consent: {
        consentId,
        digest,
        operation,
        ...(scope === undefined ? {} : { scope }),
        ...(by === undefined ? {} : { by }),
        ...(shape === undefined ? {} : { editable: shape }),
        ...readExpiry(expires, host.clock.now),
      },
    })
    const { comment, operation: granted = operation } = reply.content ?? {}
    const said = comment === undefined ? {} : { comment }
    if (reply.decision !== 'granted') throw new LullError('CONSENT_DENIED', { prompt, ...said })
    return { ...toAnswer(reply.message), operation: granted, ...said }
  }

  return {
    ask(state, ...question) {
      const call = state === 'auth-required' ? 'requireAuth' : 'ask'
      core.notInside(`task.${call}`, 'step')
      return core.oneStop.wait(call, (passed) => askUntilRead(passed, state, ...question))
    },
    consent(request) {
      core.notInside('task.requireConsent', 'step')
      return core.oneStop.wait('requireConsent', (passed) => askConsent(passed, request))
    },
    asked(key) {
      current = key
    },
    answered(reply, seq) {
      if (current !== undefined) open.get(current)?.(reply, seq)
      current = undefined
    },
  }
}

function readExpiry(
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

/** What a `task.ask` asks: its parts, what an answer must be, and how the answer is read. */
interface Asking {
  /** @param problem why the answer before was refused */
  readonly parts: (problem?: string) => readonly Part[]
  readonly facts: QuestionFacts
  readonly expires: InMs<AskOptions>
  /** The same for a question that means the same. */
  readonly fingerprint: string
  readonly read: (answer: Message) => Promise<Reading>
}

type Reading =
  | { readonly problem: string }
  | { readonly problem?: undefined; readonly value?: unknown }

function readAsking(
  question: string | readonly PartInput[] | AskRequest,
  options: AskOptions = {},
): Asking {
  if (isParts(question)) {
    const parts = readParts(question)
    return {
      parts: () => parts,
      facts: {},
      expires: parse(askOptionsInput, options, 'options'),
      fingerprint: canonical(parts),
      read: async () => ({}),
    }
  }
  return readRequest(question)
}

function isParts(
  question: string | readonly PartInput[] | AskRequest,
): question is string | readonly PartInput[] {
  return typeof question === 'string' || Array.isArray(question)
}

function readRequest(given: AskRequest): Asking {
  const { text, parts = [], choices, schema, ...expires } = parse(askInput, given, 'question')
  const shown = readParts([{ text }, ...parts])
  const shape: JsonObject | undefined = schema && jsonSchemaOf(schema)
  const facts: QuestionFacts = { choices, schema: shape }
  return {
    parts: (problem) => [
      ...(problem === undefined ? [] : [{ text: problem }]),
      ...shown,
      ...questionParts(facts),
    ],
    facts,
    expires,
    // The JSON Schema may change with a version of the schema library, while the question stays the same.
    fingerprint: canonical([shown, choices ?? null].flat()),
    async read(answer) {
      const chosen = choices && chosenIn(choices, answer)
      return schema === undefined ? { value: chosen } : readWith(schema, answer, chosen)
    },
  }
}

async function readWith(
  schema: StandardSchemaV1,
  answer: Message,
  chosen: string | undefined,
): Promise<Reading> {
  const values = chosen === undefined ? valuesIn(answer).map(({ value }) => value) : [chosen]
  const read = await Promise.all(values.map((value) => validate(schema, value, '')))
  const valid = read.find((one) => one.problem === undefined)
  if (valid !== undefined) return valid
  const [first] = read
  if (first?.problem === undefined) return {}
  return { problem: first.path === '' ? first.problem : `${first.path}: ${first.problem}` }
}
