/** `lull audit`: who did what on a server, and what was refused. */
import { createOps, type Ops } from '../../client/ops-client.ts'
import { plain } from '../../core/printable.ts'
import { type Command, exitCodes, type Input, UsageError } from '../command.ts'
import { opsOptions, serverUrl, urlFlag } from '../input/server-access.ts'

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
    if (input.words.length > 0) throw new UsageError('audit takes flags only')
    const filter = {
      since: new Date(sinceIn(input, Date.now())).toISOString(),
      principal: input.text('principal'),
      taskId: input.text('task'),
      limit: PAGE,
    }
    const ops = createOps(opsOptions(serverUrl(input)))
    let cursor: string | undefined
    let printed = 0
    do {
      const page = await ops.audit({ ...filter, cursor })
      // With --json each entry is a line, so that an export of any size can be read line by line.
      for (const entry of page.entries) {
        io.print(input.has('json') ? JSON.stringify(entry) : lineOf(entry))
      }
      printed += page.entries.length
      cursor = page.cursor
    } while (cursor !== undefined)
    if (printed === 0 && !input.has('json')) io.print(nothing(input))
    return exitCodes.ok
  },
}

/** An empty answer does not say whether the command worked. */
function nothing(input: Input): string {
  const since = input.text('since')
  const when =
    since === undefined ? 'in the last 24 hours; --since 7d looks further back' : `since ${since}`
  const only = input.has('principal') || input.has('task') ? ' that matches' : ''
  return plain(`Nothing${only} was recorded ${when}`)
}

function lineOf(entry: Entry): string {
  const { at, tenant, principal, credential, from, action, taskId, target, outcome } = entry
  const who = principal === undefined ? (from ?? 'unknown') : `${tenant}/${principal}`
  const key = credential === undefined ? '' : ` (key ${credential})`
  const further = entry.further === undefined ? '' : `${entry.further} more times`
  const what = [action, taskId, target, outcome, further]
  return plain([at, `${who}${key}`, ...what.filter((one) => one)].join('  '))
}

const units: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

function sinceIn(input: Input, now: number): number {
  const text = input.text('since') ?? '24h'
  const [, count, unit = ''] = /^([1-9]\d{0,4})([mhd])$/.exec(text) ?? []
  const at = count === undefined ? Date.parse(text) : now - Number(count) * (units[unit] ?? 0)
  if (Number.isFinite(at)) return at
  throw new UsageError('--since takes a time, such as 24h, 7d or an ISO 8601 instant')
}
