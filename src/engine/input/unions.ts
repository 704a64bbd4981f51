/** Schemas of the unions of `core`. Every schema of a request, answer or extension takes them from here. */
import type { z } from 'zod'
import type { Measure, Per } from '../../core/budgets/budget.ts'
import type { ReceiptVerdict, SignatureKind } from '../../core/receipts/check-receipts.ts'
import type { ReceiptKind } from '../../core/receipts/receipt.ts'
import type { Decision } from '../../core/records.ts'
import type { ExpiryReason, Propagate, RoleHint } from '../../core/reminders/reminders.ts'
import type { PauseMode, ResumeCause, Suspension } from '../../core/suspension.ts'
import type { OnTimeout, ResumeConditions } from '../../core/waiting/conditions.ts'
import { oneOf } from './exhaustive.ts'

export const pauseMode: z.ZodType<PauseMode> = oneOf<PauseMode>({
  interrupt_immediate: true,
  finish_step: true,
  wait_for_completion: true,
})

export const initiator: z.ZodType<Suspension['initiator']> = oneOf<Suspension['initiator']>({
  client: true,
  agent: true,
})

export const resumeCause: z.ZodType<ResumeCause> = oneOf<ResumeCause>({
  explicit_resume: true,
  condition_fired: true,
  timeout: true,
  external_event: true,
})

export const onTimeout: z.ZodType<OnTimeout> = oneOf<OnTimeout>({
  resume_with_summary: true,
  fail: true,
  resume_with_input: true,
})

type Since = NonNullable<ResumeConditions['since']>
export const since: z.ZodType<Since> = oneOf<Since>({ task: true, now: true })

export const decision: z.ZodType<Decision> = oneOf<Decision>({ granted: true, denied: true })

export const propagate: z.ZodType<Propagate> = oneOf<Propagate>({
  session: true,
  none: true,
  all: true,
})

export const roleHint: z.ZodType<RoleHint> = oneOf<RoleHint>({ system: true, developer: true })

export const expiryReason: z.ZodType<ExpiryReason> = oneOf<ExpiryReason>({
  ttl: true,
  compaction: true,
  cleared: true,
  task_ended: true,
})

export const receiptKind: z.ZodType<ReceiptKind> = oneOf<ReceiptKind>({
  SuspensionReceipt: true,
  ResumptionReceipt: true,
  DrainDecisionReceipt: true,
  ImportReceipt: true,
})

export const receiptVerdict: z.ZodType<ReceiptVerdict> = oneOf<ReceiptVerdict>({
  genuine: true,
  wrong: true,
  'unknown-key': true,
  vouched: true,
})

export const signatureKind: z.ZodType<SignatureKind> = oneOf<SignatureKind>({
  'hmac-sha256': true,
  ed25519: true,
})

export const measure: z.ZodType<Measure> = oneOf<Measure>({
  inputTokens: true,
  outputTokens: true,
  tokens: true,
  costUsd: true,
  wallMs: true,
  turns: true,
})

export const per: z.ZodType<Per> = oneOf<Per>({ hour: true, day: true, life: true })
