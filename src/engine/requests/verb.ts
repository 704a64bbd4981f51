/**
 * What a caller can ask the engine to do. The methods of the engine, their notes in the audit log and in the metrics, the
 * methods of A2A and the routes of `/ops` are made from the definition, which stands beside the operation.
 */
import type { z } from 'zod'
import type { Scope } from '../../core/scopes.ts'
import type { Assembly } from '../assemble.ts'
import type { Act } from '../caller.ts'
import type { Engine } from '../engine.ts'

type RequestOf<F> = F extends (caller: never, request: infer R, ...rest: never[]) => unknown
  ? R
  : never
type AnswerOf<F> = F extends (...given: never[]) => Promise<infer A> ? A : never

/** What a protocol needs to know of a verb. */
export interface VerbInput<T> {
  /** Checks a request and makes a new one of it. The published schemas are generated from it. */
  readonly input: z.ZodType<T>
  /** What a caller needs to do it to its own tasks. */
  readonly scope: Scope
  /** What kind of act it is, which decides who else may do it (`caller.ts`). */
  readonly act: Act
  /** What the agent of the task has to offer. Absent: nothing. */
  readonly offer?: 'pause' | 'reminders'
}

/** A verb on a task, for everybody who may control the task. */
export interface Verb<M extends keyof Engine, T = RequestOf<Engine[M]>> extends VerbInput<T> {
  /** The name of a call in the audit log. */
  readonly audited: string
  /** The id of the task in an unchecked request. Default: its `taskId`. */
  readonly taskOf?: (request: unknown) => unknown
  /** An allowed call is ordinary use: the audit log has refused calls only. */
  readonly onlyRefused?: true
  /** The name in the audit log of a call that did this. Undefined: `audited`, and nothing with `onlyRefused`. */
  doneAs?(answer: AnswerOf<Engine[M]>): string | undefined
  /** Whether refusals at a limit are counted in the metrics. */
  readonly limited: boolean
  /** The method of the engine. */
  readonly method: (parts: Assembly) => Engine[M]
}

interface OfOperators<M extends keyof Engine> {
  /** What a caller that is not an operator is told it may not use. */
  readonly capability: 'holds' | 'budgets' | 'rules' | 'schedules' | 'imports'
  readonly method: (parts: Assembly) => Engine[M]
}

/** A list that operators read. */
export interface OperatorList<M extends keyof Engine> extends OfOperators<M> {
  readonly scope: 'ops:read'
}

/** A question of operators that changes nothing. */
export interface OperatorQuestion<M extends keyof Engine> extends OperatorList<M> {
  readonly input: z.ZodType<RequestOf<Engine[M]>>
}

/** A verb of operators. It does not compile without its entry in the audit log. */
export interface OperatorVerb<M extends keyof Engine> extends OfOperators<M> {
  readonly scope: 'ops:control'
  readonly input: z.ZodType<RequestOf<Engine[M]>>
  readonly audited: {
    /** The name of a call in the audit log. */
    readonly action: string
    /** The id of what was changed. Default: a request that is an id. */
    readonly targetOf?: (answer: AnswerOf<Engine[M]>) => string
    /** The id of the task in an unchecked request, for verbs that are about one. */
    readonly taskOf?: (request: unknown) => unknown
  }
}
