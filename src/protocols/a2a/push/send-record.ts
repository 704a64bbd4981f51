/** Sends one webhook the events of one record, and stores its progress. */
import type { Push } from '../../../core/push.ts'
import type { LogRecord } from '../../../core/records.ts'
import { isTerminal } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import { eventsOf } from '../streams/task-events.ts'
import { deliveryOf } from './body.ts'
import type { DeliveryDeps } from './delivery-deps.ts'
import { afterFailure, afterSuccess } from './delivery-failure.ts'
import { TargetRefused } from './targets.ts'
import { tracedPost } from './traced-post.ts'
import { TakenOver, type WebhookDuty } from './webhook-duty.ts'

/** A record, with its task before and after it. */
export interface ReadRecord {
  readonly before: Task | undefined
  readonly record: LogRecord
  readonly now: Task
}

export interface Sending {
  readonly duty: WebhookDuty
  /** Called before each delivery. */
  readonly posting: () => void
}

/** @throws TakenOver */
export type SendRecord = (
  push: Push,
  read: ReadRecord,
  sending: Sending,
) => Promise<{ readonly push: Push; readonly delivered: boolean }>

const DELIVERIES = 'lull_pushes_total'

export function createSendRecord(deps: DeliveryDeps): SendRecord {
  const { codecs, clock, meter, random, stillValid } = deps
  const post = tracedPost(deps.post, deps.tracing)

  /**
   * Checks that the credential is still valid (P7 of `pushes.ts`).
   * @throws TargetRefused, which ends the webhook
   */
  async function checkRight({ setWith }: Push): Promise<void> {
    if (setWith === undefined || (await stillValid(setWith))) return
    throw new TargetRefused('The credential that set this webhook is not valid any more')
  }

  return async (push, { before, record, now }, { duty, posting }) => {
    const due = eventsOf(before, record, now).flatMap(
      (event) => deliveryOf(push, event, codecs) ?? [],
    )
    try {
      for (const delivery of due) {
        await checkRight(push)
        await duty.confirm()
        posting()
        await post(now, delivery, duty.confirm)
        meter?.add(DELIVERIES, 1, 'delivered')
      }
    } catch (error) {
      if (error instanceof TakenOver) throw error
      const failed = afterFailure(push, error, clock.now(), random())
      meter?.add(DELIVERIES, 1, failed.failedAt === undefined ? 'failed' : 'given_up')
      await duty.save(failed)
      return { push: failed, delivered: false }
    }
    // Marked as done in the same write. A sweep compares versions, and would not find a webhook
    // that has got every record.
    const sent = afterSuccess(push, record.seq, isTerminal(now.state))
    if (due.length > 0) await duty.save(sent)
    return { push: sent, delivered: true }
  }
}
