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
import type { Decision, Question } from '../../../core/records.ts'
import type { InterruptedState } from '../../../core/states.ts'
import type { Wake } from '../../../core/suspension.ts'
import { durationMs, type InMs } from '../../../core/values/duration.ts'
import { toIso } from '../../../core/values/instant.ts'
import type { JsonObject } from '../../../core/values/json.ts'
import type { Timeout } from '../../../core/waiting/conditions.ts'
import type {
  Answer,
  AskOptions,
  AskRequest,
  ConsentRequest,
  Park,
  Sleep,
} from '../../author/agent-task.ts'
import {
  isSchema,
  jsonSchemaOf,
  type StandardSchemaV1,
  validate,
} from '../../author/standard-schema.ts'
import { askInput, askOptionsInput, consentInput, parkInput } from '../../input/inputs.ts'
import { parse } from '../../input/parse.ts'
import { HandedIn } from '../operation-runner.ts'
import type { RunCore } from '../run-core.ts'
import type { RunAct } from '../run-writer.ts'
import { makeAgentMessage, readParts } from './outputs.ts'

export interface Stops {
  park(park: Park): Promise<Wake>
  sleep(time: Sleep): Promise<Wake>
  ask(
    state: InterruptedState,
    content: string | readonly PartInput[] | AskRequest,
    options?: AskOptions,
  ): Promise<Answer>
  consent(request: ConsentRequest): Promise<Answer>
  /** The question of that key is recorded. */
  asked(key: string): void
  /** The park of that key has ended. */
  woken(key: string, wake: Wake, seq: number): void
  answered(message: Message, decision: Decision | undefined, seq: number): void
}

/** Writes the command of a stop. Resolves when the stop is recorded. */
type Stop = (act: () => Promise<RunAct>) => Promise<void>

export function createStops(core: RunCore): Stops {
  /**
   * Tries until the stop is recorded. While a pause is under way, the stop waits for the resume. While the stop is written,
   * no result is handed out: what the code would read after it could not be written any more.
   */
  const stop: Stop = async (act) => {
    await core.flush()
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

/** A thousand years, as for timeouts. */
const LONGEST_MS = 31_622_400_000_000
/** The last instant that a `Date` can have. */
const LAST_INSTANT = 8_640_000_000_000_000

/** `task.park` and `task.sleep`. */
function createParks(core: RunCore, stop: Stop): Pick<Stops, 'park' | 'sleep' | 'woken'> {
  const { host } = core
  const open = new Map<string, (wake: Wake, seq: number) => void>()

  function park(given: Park, fingerprint?: string): Promise<Wake> {
    core.notInside(fingerprint === undefined ? 'task.park' : 'task.sleep', 'step')
    const { reason, summary, timeout, input, ...others } = given
    const inputSchema = inputSchemaOf(input)
    const wanted = timeout === undefined ? others : { ...others, timeout: inMinutes(timeout) }
    const { conditions } = parse(parkInput, { reason, summary, conditions: wanted })
    const armed = conditions && Object.keys(conditions).length > 0 ? conditions : undefined
    host.fireAt(armed) // A schedule that is refused is refused here, before anything is written.
    const key = core.key('park')
    const print = fingerprint ?? canonical(armed ?? {})
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
        ...(inputSchema === undefined ? {} : { inputSchema }),
        ...(fireAt === undefined ? {} : { fireAt }),
        eventsNow: armed?.since === 'now' ? await host.eventsNow() : 0,
      }
    }
    return core.perform<Wake>({
      key,
      waits: true,
      fingerprint: print,
      replay: (entry) => (entry.kind === 'park' ? { value: entry.result } : undefined),
      live: () =>
        new Promise((resolve, reject) => {
          open.set(key, (wake, seq) => resolve(HandedIn.of({ seq, settle: () => wake })))
          stop(act).catch(reject)
        }),
    })
  }

  function sleep(time: Sleep): Promise<Wake> {
    if (typeof time === 'object' && time !== null) {
      const at = instantIn(time.until)
      return park({ reason: `sleeping until ${at}`, trigger: { at } }, `sleep-until:${at}`)
    }
    const ms = durationMs(time, 'time')
    if (ms > LONGEST_MS) {
      throw new LullError('INVALID_INPUT', { path: 'time', problem: 'must be at most 1,000 years' })
    }
    const at = toIso(Math.ceil(host.clock.now() + ms))
    // The instant differs in every run, so the fingerprint is made from the duration.
    return park({ reason: `sleeping for ${ms} ms`, trigger: { at } }, `sleep:${ms}`)
  }

  return {
    park,
    sleep,
    woken(key, wake, seq) {
      open.get(key)?.(wake, seq)
      open.delete(key)
    },
  }
}

/** Undefined where any input is taken. */
function inputSchemaOf(input: unknown): JsonObject | undefined {
  if (input === undefined) return undefined
  if (isSchema(input)) return jsonSchemaOf(input)
  const problem = 'must be a Standard Schema, such as z.object({…})'
  throw new LullError('INVALID_INPUT', { path: 'input', problem })
}

/** The timeout in the unit of the protocols. */
function inMinutes(timeout: NonNullable<Park['timeout']>): Omit<Timeout, 'input'> {
  if (typeof timeout !== 'object' || timeout === null || !('afterMs' in timeout)) return timeout
  const { afterMs, ...rest } = timeout
  return { durationMinutes: durationMs(afterMs, 'conditions.timeout.afterMs') / 60_000, ...rest }
}

/** A number or a `Date` as ISO 8601. A text is checked with the trigger. */
function instantIn(until: Exclude<Sleep, number | string>['until']): string {
  if (typeof until === 'string') return until
  const at = Number(until)
  if (Math.abs(at) <= LAST_INSTANT) return toIso(at)
  const problem = 'must be an ISO 8601 instant, epoch milliseconds or a Date'
  throw new LullError('INVALID_INPUT', { path: 'time.until', problem })
}

interface Reply {
  readonly message: Message
  readonly decision?: Decision | undefined
}

/** `task.ask`, `task.requireAuth` and `task.requireConsent`. */
function createQuestions(core: RunCore, stop: Stop): Omit<Stops, 'park' | 'sleep' | 'woken'> {
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
          open.set(key, (reply, seq) => resolve(HandedIn.of({ seq, settle: () => reply })))
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
    const { parts, facts, expires, fingerprint, read } = readAsking(content, options)
    const expiry = readExpiry(expires, host.clock.now)
    let problem: string | undefined
    for (;;) {
      const { message } = await replyTo(core.key('ask', state), fingerprint, {
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

  async function consent(request: ConsentRequest): Promise<Answer> {
    core.notInside('task.requireConsent', 'step')
    const { prompt, operation, scope, ...expires } = parse(consentInput, request)
    const digest = sha256(canonical(operation))
    const consentId = `consent-${host.ids.uuid()}`
    const reply = await replyTo(core.key('ask', 'consent'), digest, {
      state: 'user-consent-required',
      message: makeAgentMessage(core, host.ids.uuid(), [{ text: prompt }]),
      consent: {
        consentId,
        digest,
        operation,
        ...(scope === undefined ? {} : { scope }),
        ...readExpiry(expires, host.clock.now),
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
