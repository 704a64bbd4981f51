/** Exported tasks: write one to a file, take one over, check its receipts. */
import { writeFileSync } from 'node:fs'
import { isClientError } from '../../client/client-error.ts'
import { plain, printable } from '../../core/values/printable.ts'
import {
  type Command,
  type ExitCode,
  exitCodes,
  type Io,
  printResult,
  UsageError,
} from '../command.ts'
import type { ReceiptReport } from '../input/check-file.ts'
import { readOnlyWord } from '../input/read-input.ts'
import { opsOf, urlFlag } from '../input/server-access.ts'
import { type NamedTask, readTask } from '../input/task-id.ts'
import { countText } from '../views/render.ts'

export const exportTask: Command = {
  name: 'export',
  args: '<task-id>',
  about: 'Write a task with its whole log as one file that outsiders can verify',
  flags: {
    out: { value: 'file', about: 'Where to write it (default: stdout)' },
    redact: { about: 'Replace messages, artifacts, inputs and results by their hashes' },
    ...urlFlag,
  },
  examples: ['export <task-id> --out task.jsonl', 'export <task-id> --redact > task.jsonl'],
  async run(input, io) {
    const { ops, taskId } = await readTask(input)
    const { header, records } = await ops.export(taskId, input.has('redact'))
    const lines = [header, ...records].map((line) => `${printable(JSON.stringify(line))}\n`)
    const out = input.text('out')
    if (out === undefined) io.write(lines.join(''))
    else {
      writeFileSync(out, lines.join(''), { mode: 0o600 })
      const line = `Wrote ${records.length} records of task ${plain(taskId)} to ${plain(out)}.`
      return printResult(input, io, { file: out, header }, [line])
    }
    return exitCodes.ok
  },
}

export const importTask: Command = {
  name: 'import',
  args: '<file>',
  about: 'Take over an exported task; an open one is held until you lift the hold',
  flags: {
    keys: { value: 'file or url', about: 'Public keys the file must be signed with' },
    start: { about: 'Let it go on at once: nothing else runs it any more' },
    ...urlFlag,
  },
  examples: ['import task.jsonl', 'import task.jsonl --start'],
  async run(input, io) {
    const file = readOnlyWord(input, 'give one exported file')
    const { checkFile, readExport } = await import('../input/check-file.ts')
    const { report } = await checkFile(file, input.text('keys'))
    if (input.has('keys') && !report.verified) {
      io.warn(
        `${plain(file)} is not verified by these keys: ${plain(report.faults[0]?.problem ?? '')}`,
      )
      return exitCodes.refused
    }
    const { header, records } = readExport(file)
    const done = await opsOf(input).import({ header, records }, input.has('start'))
    if (input.has('json')) {
      io.print(JSON.stringify(done))
      return exitCodes.ok
    }
    io.print(`Imported task ${plain(done.taskId)} with ${done.records} records: ${done.state}.`)
    if (done.holdId !== undefined) {
      io.print('It is held, because the server that exported it may still run it. To let it go on:')
      io.print(`  ${io.self} hold lift ${plain(done.holdId)}`)
    }
    for (const child of done.missingChildren) {
      io.warn(`Its child ${plain(child)} is not here; import that too, or the task waits for it.`)
    }
    return exitCodes.ok
  },
}

export const receiptsVerify: Command = {
  name: 'receipts verify',
  args: '[<task-id>]',
  about: 'Check the receipts of a task, on a server or in an exported file',
  flags: {
    export: { value: 'file', about: 'Check this file, without a server (- reads stdin)' },
    keys: {
      value: 'file or url',
      about: 'Public keys for --export, separated by commas (default: those in the file)',
    },
    ...urlFlag,
  },
  examples: [
    'receipts verify <task-id>',
    'receipts verify --export task.jsonl --keys https://lull.example.com/.well-known/lull-receipt-keys.json',
  ],
  async run(input, io) {
    const file = input.text('export')
    if (file !== undefined) {
      if (input.words.length > 0) throw new UsageError('give a task id or --export, not both')
      const { checkFile } = await import('../input/check-file.ts')
      const { report, note } = await checkFile(file, input.text('keys'))
      return show(report, input.has('json'), io, give('--keys the keys of the server'), note)
    }
    if (input.has('keys')) throw new UsageError('--keys needs --export: a server has its own keys')
    const report = await fetchReport(await readTask(input))
    const isVouched = report.receipts.some(({ verdict }) => verdict === 'vouched')
    const advice = give(
      isVouched
        ? 'the server the public keys of the other one in LULL_TRUSTED_RECEIPT_KEYS'
        : 'the server the former key in LULL_FORMER_RECEIPT_KEYS',
    )
    return show(report, input.has('json'), io, advice)
  },
}

/** `/ops` has the receipts of every task, for operators. Other callers get the receipts of their own tasks from A2A. */
async function fetchReport({ client, ops, taskId }: NamedTask): Promise<ReceiptReport> {
  try {
    return await ops.receipts(taskId)
  } catch (error) {
    if (!isClientError(error, 'FORBIDDEN')) throw error
    return client.receipts(taskId)
  }
}

function give(what: string): string {
  return `not verified: give ${what}`
}

function show(
  report: ReceiptReport,
  asJson: boolean,
  io: Io,
  advice: string,
  note?: string,
): ExitCode {
  const { taskId, receipts, records, faults } = report
  const code = faults.length === 0 ? exitCodes.ok : exitCodes.refused
  if (asJson) {
    io.print(JSON.stringify(report))
    return code
  }
  for (const { seq, problem } of faults) {
    io.print(`${seq === 0 ? 'file' : `record ${seq}`}  ${io.paint('red', plain(problem))}`)
  }
  // A receipt with an unknown key is not verified, but that does not make it forged.
  const isForged = faults.some(({ unknownKey }) => unknownKey === undefined)
  const doubt = isForged ? 'not genuine' : advice
  const verdict = faults.length === 0 ? io.paint('green', 'verified') : doubt
  io.print(
    `Task ${plain(taskId)}  ${countText(receipts.length, 'receipt')}, ${countText(records, 'record')}: ${verdict}`,
  )
  const old = receipts.filter(({ verifiedBy }) => verifiedBy.join() === 'hmac-sha256').length
  if (old > 0) io.print(`${old} of them by HMAC only: an outsider cannot verify these.`)
  if (note !== undefined) io.print(note)
  return code
}
