/** Webhooks of a task: which are behind, and which were given up. */
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { WebhookSummary } from '../../../src/wire/ops/tasks.ts'
import { ops } from '../server.ts'
import { Until } from './times.tsx'

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
    <section class="panel" aria-label="Webhooks">
      <header>
        <h2>Webhooks</h2>
      </header>
      <ul class="arts">
        {shown.value.webhooks.map(({ webhookId, to, status, attempts, retryAt, error }) => (
          <li key={webhookId}>
            <span>
              <b>{to}</b>{' '}
              <span class={status === 'failed' ? 'tag fail' : 'tag'}>{words[status]}</span>
            </span>
            {attempts > 0 && (
              <span class="small quiet">
                {attempts} failed attempts
                {retryAt !== undefined && (
                  <>
                    , tried again <Until at={retryAt} />
                  </>
                )}
              </span>
            )}
            {error !== undefined && <p class="refusal">{error}</p>}
          </li>
        ))}
      </ul>
    </section>
  )
}
