/** Webhooks of a task: which are behind, and which were given up. */
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { WebhookSummary } from '../../../src/wire/ops/tasks.ts'
import { ops } from '../server.ts'
import { Until } from './countdown.tsx'

const shown = signal<{ of: string; webhooks: readonly WebhookSummary[] } | undefined>(undefined)

const words: Readonly<Record<WebhookSummary['status'], string>> = {
  open: 'follows the task',
  failed: 'given up',
  done: 'has everything',
}

/** @param version of the task: webhooks are read again when it changes */
export function Webhooks({
  taskId,
  version,
}: {
  readonly taskId: string
  readonly version: number
}) {
  useEffect(() => {
    ops()
      .webhooks(taskId)
      .then(
        (webhooks) => {
          shown.value = { of: taskId, webhooks }
        },
        () => undefined,
      )
  }, [taskId, version])
  if (shown.value?.of !== taskId || shown.value.webhooks.length === 0) return null
  return (
    <section aria-label="Webhooks">
      <h2>Webhooks</h2>
      <ul class="cards wide">
        {shown.value.webhooks.map(({ webhookId, to, status, attempts, retryAt, error }) => (
          <li
            class="card"
            key={webhookId}
            data-state={status === 'failed' ? 'failed' : 'completed'}
          >
            <strong>{to}</strong> {words[status]}
            {attempts > 0 && `, ${attempts} failed attempts`}
            {retryAt !== undefined && (
              <>
                , tried again <Until at={retryAt} />
              </>
            )}
            {error !== undefined && <p class="refusal">{error}</p>}
          </li>
        ))}
      </ul>
    </section>
  )
}
