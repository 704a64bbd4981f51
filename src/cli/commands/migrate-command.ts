/** `lull migrate`: moves the tasks of a data directory into a PostgreSQL database. */

import { plain } from '../../core/values/printable.ts'
import type { MoveProgress, MoveReport } from '../../server/move/move-store.ts'
import { readSettings } from '../../server/settings/settings.ts'
import { chooseStore, placeOf } from '../../server/store/open-store.ts'
import { type Command, exitCodes, type Input, type Io, UsageError } from '../command.ts'

export const migrate: Command = {
  name: 'migrate',
  about: 'Copy the tasks of a data directory into PostgreSQL, and check every log there',
  flags: {
    from: { value: 'directory', about: 'Where tasks are kept (LULL_DATA, default ./.lull)' },
    to: { value: 'url', about: 'The PostgreSQL database (LULL_POSTGRES)' },
  },
  examples: [
    'migrate --from ./.lull --to postgres://lull@db.example.com/lull',
    'migrate --from /var/lib/lull --json',
  ],
  async run(input, io) {
    const { from, to } = readPlaces(input)
    const { moveStore } = await import('../../server/move/move-store.ts')
    const { receiptKey, formerReceiptKeys, trustedReceiptKeys } = readSettings()
    const progress = (now: MoveProgress): void => io.live([progressLine(now)])
    const { report, isRepeat } = await moveStore({
      from,
      to,
      receiptKey,
      formerReceiptKeys,
      trustedReceiptKeys,
      progress,
    })
    if (input.has('json')) io.print(JSON.stringify({ ...report, isRepeat }))
    else say(report, isRepeat, from, placeOf({ kind: 'postgres', data: from, postgres: to }), io)
    return exitCodes.ok
  },
}

function readPlaces(input: Input) {
  if (input.words.length > 0) throw new UsageError('migrate takes flags only')
  const { data, stores } = readSettings({ data: input.text('from'), postgres: input.text('to') })
  const { postgres } = chooseStore(stores, data)
  if (postgres !== undefined) return { from: data, to: postgres }
  throw new UsageError('give the database: --to postgres://user@host/database, or LULL_POSTGRES')
}

const phases: Readonly<Record<MoveProgress['phase'], string>> = {
  copying: 'Copying',
  checking: 'Checking',
}

function progressLine({ phase, tasks, of }: MoveProgress): string {
  const percent = of === 0 ? 100 : Math.floor((tasks * 100) / of)
  return `${phases[phase]} tasks  ${tasks} of ${of}  ${percent} %`
}

function say(report: MoveReport, isRepeat: boolean, from: string, to: string, io: Io): void {
  const { movedAt, tasks, records, receipts, rows, receiptFaults, unreadableTasks } = report
  if (isRepeat) {
    io.print(`Nothing to do: ${plain(from)} was moved to ${plain(to)} at ${movedAt}.`)
    return
  }
  io.print(`Moved ${plain(from)} to ${plain(to)}.`)
  io.print(`${tasks} tasks with ${records} records and ${receipts} receipts, each compared.`)
  io.print(
    `${rows.claims} idempotency keys, ${rows.events} events, ${rows.sessions} sessions, ${rows.holds} holds, ${rows.pushes} webhooks.`,
  )
  for (const taskId of unreadableTasks) {
    io.warn(`Task ${plain(taskId)} cannot be read, as before the move.`)
  }
  if (receiptFaults.length > 0) {
    const [first] = receiptFaults
    io.warn(
      `${receiptFaults.length} receipts are not genuine, as before the move, the first of task ${plain(first?.taskId ?? '')}: ${plain(first?.problem ?? '')}. If the server had LULL_RECEIPT_KEY, set it here too.`,
    )
  }
  io.print('Start the processes with LULL_POSTGRES. Do not start one on the old directory again:')
  io.print('it still has the same tasks, and they would run twice.')
}
