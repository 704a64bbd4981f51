/**
 * Schemas of the values in records of a log. Values of requests have their own schemas. These are for logs that were made
 * elsewhere: they accept all that an engine writes, which may be longer than what a caller may send.
 */
import { z } from 'zod'
import type { Artifact, Message } from '../../core/messages/message.ts'
import type { Choice } from '../../core/messages/question-part.ts'
import type { TranscriptEntry } from '../../core/messages/transcript.ts'
import type { PublicKey, Receipt } from '../../core/receipts/receipt.ts'
import type {
  ChildResult,
  ConsentBy,
  ContextSnapshot,
  DecisionContent,
  DeferredAction,
  Failure,
  Question,
  RunToken,
  UsageReport,
} from '../../core/records.ts'
import type { Reminder } from '../../core/reminders/reminders.ts'
import {
  type InterruptedState,
  isInterrupted,
  isTerminal,
  type State,
  states,
  type TerminalState,
} from '../../core/states.ts'
import type {
  Actor,
  ActorKind,
  EndedChild,
  NewOperation,
  SpanLinks,
  Suspension,
  TimeoutEvent,
} from '../../core/suspension.ts'
import { LAST_INSTANT } from '../../core/values/instant.ts'
import type { JsonObject } from '../../core/values/json.ts'
import type { SpanLink } from '../../core/values/span-link.ts'
import { list } from './bounded.ts'
import { resumeConditions } from './conditions.ts'
import { cloudEvent } from './events.ts'
import { type FieldsOf, oneOf, unionOf } from './exhaustive.ts'
import { json } from './json-input.ts'
import { part } from './message.ts'
import { epochMs, id, instant as isoInstant, jsonObject, text } from './primitives.ts'
import {
  decision,
  initiator,
  pauseMode,
  propagate,
  receiptKind,
  resumeCause,
  roleHint,
} from './unions.ts'

/** Usage is added up. The sum of as many records as a log can have stays exact enough. */
const MOST_USED = 1e15
const MANY = 100_000

/** When something was written, in epoch milliseconds. */
export const at: z.ZodNumber = epochMs
/** When something is due. Durations can have fractions of a millisecond. */
export const dueAt: z.ZodNumber = z.number().min(0).max(LAST_INSTANT)
export const count: z.ZodNumber = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)
/** The id of a task stands in addresses, so it has no character that means something there. */
export const taskName: z.ZodString = text.regex(
  /^[\w.:~-]{1,256}$/,
  'must have 1 to 256 letters, digits or any of _ . : ~ -',
)
export const key: z.ZodString = text.min(1)
export const yes: z.ZodType<true> = z.literal(true) as z.ZodType<true>

/** An object with exactly these members. A member that is new in the type does not compile until it has a schema. */
export function exactly<T extends object>(fields: FieldsOf<T>): z.ZodType<T> {
  return z.strictObject(fields) as z.ZodType<unknown> as z.ZodType<T>
}

const anyOf = <T extends string>(words: readonly T[]): z.ZodType<T> =>
  z.enum(words as [T, ...T[]]) as z.ZodType<T>

const state: z.ZodType<State> = anyOf(states)
const terminalState = anyOf(states.filter((one): one is TerminalState => isTerminal(one)))
const interruptedState = anyOf(states.filter((one): one is InterruptedState => isInterrupted(one)))

export const message: z.ZodType<Message> = exactly<Message>({
  // The message that ends an expired question has the id of the answer that came too late, and a suffix.
  messageId: text.min(1).max(512),
  role: oneOf<Message['role']>({ ROLE_USER: true, ROLE_AGENT: true }),
  parts: list(part, MANY),
  contextId: id.optional(),
  taskId: taskName.optional(),
  referenceTaskIds: list(id, 256).optional(),
  extensions: list(text.max(2_048), 256).optional(),
  metadata: jsonObject.optional(),
})

export const artifact: z.ZodType<Artifact> = exactly<Artifact>({
  artifactId: text.min(1).max(1_024),
  name: text.optional(),
  description: text.optional(),
  parts: list(part, MANY),
  extensions: list(text.max(2_048), 256).optional(),
  metadata: jsonObject.optional(),
})

export const failure: z.ZodType<Failure> = exactly<Failure>({
  name: text,
  message: text,
  stack: text.optional(),
  code: text.optional(),
  details: json.optional(),
})

export const actor: z.ZodType<Actor> = exactly<Actor>({
  kind: oneOf<ActorKind>({ client: true, agent: true, operator: true, policy: true, parent: true }),
  id: text,
  keyId: text.optional(),
})

export const run: z.ZodType<RunToken> = exactly<RunToken>({ token: id, worker: text })

export const span: z.ZodType<SpanLink> = exactly<SpanLink>({
  traceId: text.regex(/^[0-9a-f]{32}$/, 'must be 32 hexadecimal digits'),
  spanId: text.regex(/^[0-9a-f]{16}$/, 'must be 16 hexadecimal digits'),
  sampled: z.literal(false).optional(),
})

export const links: z.ZodType<SpanLinks> = exactly<SpanLinks>({
  span: span.optional(),
  pipelineSpan: span.optional(),
  parentTaskId: taskName.optional(),
})

const amount = z.number().min(0).max(MOST_USED).optional()

export const usage: z.ZodType<UsageReport> = exactly<UsageReport>({
  inputTokens: amount,
  outputTokens: amount,
  costUsd: amount,
  contextWindow: amount,
})

export const transcript: z.ZodType<readonly TranscriptEntry[]> = list(
  exactly<TranscriptEntry>({
    turn: count,
    role: oneOf<TranscriptEntry['role']>({ user: true, agent: true, tool: true, digest: true }),
    content: json,
  }),
  MANY,
)

export const reminder: z.ZodType<Reminder> = exactly<Reminder>({
  id: text.min(1).max(1_024),
  body: text.min(1).max(16_384),
  tags: list(text.max(256), 256),
  dedupeKey: text.max(1_024).optional(),
  ttlTurns: z.number().int().positive().max(Number.MAX_SAFE_INTEGER).optional(),
  preserveOnCompact: z.boolean(),
  propagate,
  roleHint,
  source: text.max(1_024).optional(),
  firedAtTurn: count.optional(),
  mode: pauseMode,
  metadata: jsonObject.optional(),
  inheritedFrom: id.optional(),
  acceptedAt: at,
})

const choice = exactly<Choice>({ value: text, label: text.optional() })

const consentBy: z.ZodType<ConsentBy> = z.union([
  z.literal('other'),
  z.strictObject({ principal: text }),
  z.strictObject({ withScope: text }),
])

export const question: z.ZodType<Question> = exactly<Question>({
  state: interruptedState,
  message,
  expiresAt: dueAt.optional(),
  choices: list(choice, 256).optional(),
  schema: jsonObject.optional(),
  consent: exactly<NonNullable<Question['consent']>>({
    consentId: id,
    digest: text,
    operation: json,
    scope: json.optional(),
    expiresAt: dueAt.optional(),
    by: consentBy.optional(),
    editable: jsonObject.optional(),
  }).optional(),
})

export const decisionContent: z.ZodType<DecisionContent> = exactly<DecisionContent>({
  comment: text.optional(),
  operation: json.optional(),
})

export const childResult: z.ZodType<ChildResult> = exactly<ChildResult>({
  taskId: taskName,
  state: terminalState,
  message: message.optional(),
  artifacts: list(artifact, MANY),
})

const timeoutEvent = exactly<TimeoutEvent>({
  type: z.literal('lull.timeout'),
  handle: id,
  deadlineAt: isoInstant,
})

export const wakeEvent = unionOf([timeoutEvent, cloudEvent], 'must be an event') as z.ZodType<
  NonNullable<(DeferredAction & { readonly kind: 'wake' })['event']>
>

export const endedChild: z.ZodType<EndedChild> = exactly<EndedChild>({
  taskId: taskName,
  state: terminalState,
  message: message.optional(),
})

const deferredActions: {
  readonly [K in DeferredAction['kind']]: z.ZodType<DeferredAction & { readonly kind: K }>
} = {
  wake: exactly<DeferredAction & { readonly kind: 'wake' }>({
    kind: z.literal('wake'),
    cause: resumeCause,
    input: json,
    event: wakeEvent.optional(),
    child: endedChild.optional(),
    eventPos: count.optional(),
    eventsRemovedUpTo: count.optional(),
    continueTranscript: z.boolean(),
  }),
  answer: exactly<DeferredAction & { readonly kind: 'answer' }>({
    kind: z.literal('answer'),
    message,
    actor: actor.optional(),
    decision: decision.optional(),
    content: decisionContent.optional(),
  }),
  failure: exactly<DeferredAction & { readonly kind: 'failure' }>({
    kind: z.literal('failure'),
    message,
    failure,
  }),
}

export const deferred: z.ZodType<DeferredAction> = unionOf(
  Object.values(deferredActions),
) as z.ZodType<DeferredAction>

export const suspension: z.ZodType<Suspension> = exactly<Suspension>({
  handle: id,
  epoch: count,
  initiator,
  actor,
  origin: text.max(256).optional(),
  mode: pauseMode.optional(),
  reason: text.optional(),
  summary: text.optional(),
  conditions: resumeConditions.optional(),
  children: list(taskName, MANY).optional(),
  inputSchema: jsonObject.optional(),
  requestedAt: at,
  pausedAt: at.optional(),
  deadlineAt: dueAt.optional(),
  fireAt: dueAt.optional(),
  pausedFrom: state,
  mayStillAct: list(text, 64).optional(),
  eventsAfter: count,
  links: links.optional(),
  key: key.optional(),
  byHold: yes.optional(),
  byBudget: yes.optional(),
  byFork: yes.optional(),
  mismatch: key.optional(),
  newOperations: list(exactly<NewOperation>({ key, unclaimed: key }), MANY).optional(),
})

export const seen: z.ZodType<ContextSnapshot> = exactly<ContextSnapshot>({
  tasks: list(z.tuple([taskName, count]), 1_000),
  messagesUpTo: count,
  messagesFrom: count.optional(),
})

/** An Ed25519 key has 32 bytes. */
const publicKey = exactly<PublicKey>({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: text.regex(/^[\w-]{43}$/, 'must be an Ed25519 key'),
  kid: id,
  alg: z.literal('EdDSA'),
  use: z.literal('sig'),
})

export const publicKeys: z.ZodType<readonly PublicKey[]> = list(publicKey, 256)

export const receipt: z.ZodType<Receipt> = exactly<Receipt>({
  version: z.literal(2).optional(),
  kind: receiptKind,
  taskId: taskName,
  number: count,
  previous: text.max(256),
  seq: count.optional(),
  at,
  facts: jsonObject as z.ZodType<JsonObject>,
  content: text.max(256).optional(),
  keyId: id,
  signature: text.max(8_192),
  ed25519: text.max(8_192).optional(),
})
