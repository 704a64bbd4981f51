/** `lull audit`: who did what on a server, and what was refused. */
import { type Ops, readPages } from '../../client/ops-client.ts'
import { plain } from '../../core/values/printable.ts'
import { type Command, exitCodes, type Input, UsageError } from '../command.ts'
import { expectNoWords, parseInstant } from '../input/read-input.ts'
import { opsOf, urlFlag } from '../input/server-access.ts'

type Entry = Awaited<ReturnType<Ops['audit']>>['entries'][number]

const PAGE = 1_000

export const audit: Command = {
  name: 'audit',
  about: 'Print who did what, and what was refused, oldest first',
  flags: {
    since: { value: 'time', about: 'From when on, such as 24h, 7d or an ISO 8601 instant (24h)' },
    principal: { value: 'name', about: 'Only what this principal did' },
    task: { value: 'id', about: 'Only what was done to this task' },
    ...urlFlag,
  },
  examples: [
    'audit',
    'audit --since 7d --principal ci',
    'audit --task <task-id>',
    'audit --since 90d --json',
  ],
  async run(input, io) {
    expectNoWords(input, 'audit takes flags only')
    const filter = {
      since: new Date(readSince(input, Date.now())).toISOString(),
      principal: input.text('principal'),
      taskId: input.text('task'),
      limit: PAGE,
    }
    const ops = opsOf(input)
    let printed = 0
    for await (const page of readPages((cursor) => ops.audit({ ...filter, cursor }))) {
      // With --json each entry is a line, so that an export of any size can be read line by line.
      for (const entry of page.entries) {
        io.print(input.has('json') ? JSON.stringify(entry) : entryLine(entry))
      }
      printed += page.entries.length
    }
    if (printed === 0 && !input.has('json')) io.print(emptyLine(input))
    return exitCodes.ok
  },
}

/** Printed when no entry matches, so that the user sees that the command worked. */
function emptyLine(input: Input): string {
  const since = input.text('since')
  const when =
    since === undefined ? 'in the last 24 hours; --since 7d looks further back' : `since ${since}`
  const only = input.has('principal') || input.has('task') ? ' that matches' : ''
  return plain(`Nothing${only} was recorded ${when}`)
}

function entryLine(entry: Entry): string {
  const { at, tenant, principal, credential, from, action, taskId, target, outcome } = entry
  const who = principal === undefined ? (from ?? 'unknown') : `${tenant}/${principal}`
  const key = credential === undefined ? '' : ` (key ${credential})`
  const further = entry.further === undefined ? '' : `${entry.further} more times`
  const what = [action, taskId, target, outcome, further]
  return plain([at, `${who}${key}`, ...what.filter((one) => one)].join('  '))
}

function readSince(input: Input, now: number): number {
  const at = parseInstant(input.text('since') ?? '24h', now, 'past')
  if (Number.isFinite(at)) return at
  throw new UsageError('--since takes a time, such as 24h, 7d or an ISO 8601 instant')
}
