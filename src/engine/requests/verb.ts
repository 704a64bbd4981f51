/**
 * What a caller can do to a task. The methods of the engine, their notes in the audit log and in the metrics, the methods
 * of A2A and the routes of `/ops` are made from the definition, which stands beside the operation.
 */
import type { z } from 'zod'
import type { Scope } from '../../core/scopes.ts'

export interface Verb<T extends { readonly taskId: string }> {
  /** Checks a request and makes a new one of it. The published schemas are generated from it. */
  readonly input: z.ZodType<T>
  /** The name of a call in the audit log. */
  readonly audited: string
  /** Whether refusals at a limit are counted in the metrics. */
  readonly limited: boolean
  /** What a caller needs to do it to its own tasks. */
  readonly scope: Scope
  /** What the agent of the task has to offer. Absent: nothing. */
  readonly offer?: 'pause' | 'reminders'
}
