/** The receipts of a task, each with what the server's check has shown now. */
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ReceiptReport, ReceiptSummary } from '../../../src/wire/ops/logs.ts'
import { ops } from '../server.ts'
import { Shape } from './marks.tsx'
import { When } from './times.tsx'

const shown = signal<ReceiptReport | undefined>(undefined)

const verdicts = {
  genuine: { shape: 'completed', tone: 'done', text: 'verified' },
  wrong: { shape: 'failed', tone: 'fail', text: 'not genuine' },
  vouched: {
    shape: 'canceled',
    tone: 'off',
    text: 'not verified: the import of the task vouches for its key',
  },
  'unknown-key': {
    shape: 'canceled',
    tone: 'off',
    text: 'not checked: the server does not have its key',
  },
} as const

const kinds: Readonly<Record<string, string>> = {
  SuspensionReceipt: 'Stopped',
  ResumptionReceipt: 'Went on',
  DrainDecisionReceipt: 'Left by a stopping process',
  ImportReceipt: 'Imported',
}

interface OfVersion {
  readonly taskId: string
  /** The receipts are read again when it changes. */
  readonly version: number
}

export function Receipts({ taskId, version }: OfVersion) {
  useEffect(() => {
    ops()
      .receipts(taskId)
      .then(
        (report) => {
          shown.value = report
        },
        () => undefined,
      )
  }, [taskId, version])
  const report = shown.value
  if (report?.taskId !== taskId || report.receipts.length === 0) return null
  const isForged = report.faults.some(({ unknownKey }) => unknownKey === undefined)
  return (
    <section class="panel receipts" aria-label="Receipts">
      <header>
        <h2>Receipts</h2>
        <Summary report={report} />
      </header>
      <div class="pad stack-s">
        <ol class="rc">
          {report.receipts.map((receipt) => (
            <One key={receipt.seq} receipt={receipt} />
          ))}
        </ol>
        {report.faults.length > 0 && (
          <p class={isForged ? 'problem refusal' : 'quiet small'} role="alert">
            {report.faults.map(({ seq, problem }) => `record ${seq}: ${problem}`).join('; ')}
          </p>
        )}
        <p class="small quiet">
          Signed with key <code>{report.receipts.at(-1)?.keyId}</code>. Each names the one before
          it.
        </p>
      </div>
    </section>
  )
}

function Summary({ report: { receipts, verified } }: { readonly report: ReceiptReport }) {
  if (!verified) return null
  return (
    <span class="push state done">
      <Shape shape="completed" tone="done" />
      {receipts.length === 1 ? '1 verified now' : `all ${receipts.length} verified now`}
    </span>
  )
}

function One({ receipt: { kind, number, at, verdict } }: { readonly receipt: ReceiptSummary }) {
  const { text, ...look } = verdicts[verdict]
  return (
    <li>
      <Shape {...look} />
      <span>
        {kinds[kind] ?? kind}, receipt {number}
        <span class={verdict === 'genuine' ? 'hidden' : 'quiet'}> {text}</span>
      </span>
      <When at={new Date(at).toISOString()} />
    </li>
  )
}
