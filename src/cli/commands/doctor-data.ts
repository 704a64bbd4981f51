/** The part of `lull doctor` that looks at the data directory and its database. */
import { access, constants } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { describeError } from '../../core/describe-error.ts'
import { isLullError } from '../../core/errors.ts'
import type { DirectoryState } from '../../server/inspect-store.ts'
import { readSettings } from '../../server/settings.ts'
import type { Input } from '../command.ts'
import type { Finding } from './doctor-command.ts'

const about = 'data'

export async function dataDirectory(input: Input): Promise<readonly Finding[]> {
  const data = resolve(readSettings({ data: input.text('data') }).data)
  const access = await writable(data)
  if (access.verdict !== 'ok') return [access]
  const { acceptLoss, inspectDirectory } = await import('../../server/inspect-store.ts')
  const accepted = input.has('accept-loss') ? [await acceptance(data, acceptLoss)] : []
  return [access, ...accepted, ...databaseIn(await inspectDirectory(data))]
}

async function writable(data: string): Promise<Finding> {
  for (let path = data; ; path = dirname(path)) {
    try {
      await access(path, constants.W_OK)
      return { about, verdict: 'ok', text: `${data} can be written` }
    } catch (error) {
      const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
      if (missing && path !== dirname(path)) continue
      const text = `${path} cannot be written: choose another directory (--data, LULL_DATA)`
      return { about, verdict: 'fail', text }
    }
  }
}

async function acceptance(
  data: string,
  acceptLoss: (data: string) => Promise<boolean>,
): Promise<Finding> {
  try {
    const text = (await acceptLoss(data))
      ? 'Lull now starts with what lull.db has'
      : 'there is no loss to accept'
    return { about, verdict: 'ok', text }
  } catch (error) {
    if (!isLullError(error)) throw error
    return { about, verdict: 'fail', text: describeError(error).message }
  }
}

function databaseIn(state: DirectoryState): readonly Finding[] {
  const { kind } = state
  switch (kind) {
    case 'unused':
      return []
    case 'in-use': {
      const text = `lull.db is in use (${state.owner}): the server says whether it works`
      return [{ about, verdict: 'ok', text }]
    }
    case 'whole': {
      const text = `lull.db is whole, with ${state.tasks} task${state.tasks === 1 ? '' : 's'}`
      return [{ about, verdict: 'ok', text }]
    }
    case 'broken':
      return [{ about, verdict: 'fail', text: state.why }]
    default:
      return kind satisfies never
  }
}
