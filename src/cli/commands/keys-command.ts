/** `lull keys`: API keys, in the data directory or the database. A running server sees each change. */

import { isScope, type Scope, scopes } from '../../core/scopes.ts'
import { plain } from '../../core/values/printable.ts'
import { type ApiKey, isValid, mintKey, type NewKey } from '../../server/auth/api-keys.ts'
import type { KeyStore } from '../../server/auth/key-store.ts'
import {
  type Command,
  exitCodes,
  type Flag,
  type Input,
  type Io,
  printResult,
  UsageError,
} from '../command.ts'
import { expectNoWords, parseInstant, readOnlyWord } from '../input/read-input.ts'
import { countText } from '../views/render.ts'

const placeFlags: Readonly<Record<string, Flag>> = {
  data: { value: 'directory', about: 'Where keys are kept (LULL_DATA, default ./.lull)' },
  postgres: { value: 'url', about: 'PostgreSQL that keeps keys (LULL_POSTGRES)' },
}

const ALL_TENANTS = '*'
const LONGEST_NAME = 256

export const keysCommands: readonly Command[] = [
  {
    name: 'keys mint',
    about: 'Make an API key. It is shown once',
    flags: {
      tenant: { value: 'name', about: 'Whose tasks it reaches; * is for operators of all tenants' },
      principal: { value: 'name', about: 'Who uses it. Each principal sees its own tasks' },
      scopes: { value: 'list', about: `What it may do: ${scopes.join(', ')}` },
      'event-sources': { value: 'list', about: 'The only sources whose events it may send' },
      expires: { value: 'time', about: 'When it ends, such as 30d, 12h or 2027-01-01T00:00:00Z' },
      ...placeFlags,
    },
    examples: [
      'keys mint --tenant acme --principal ci --scopes tasks:read,tasks:write --expires 30d',
      "keys mint --tenant '*' --principal ops --scopes ops:read,ops:control --json",
    ],
    async run(input, io) {
      expectNoWords(input, 'mint takes flags only')
      const now = Date.now()
      const { kept, key } = mintKey(readNewKey(input, now), now)
      await withKeyStore(input, (keys) => keys.add(kept))
      const code = printResult(input, io, { id: kept.id, key }, [key])
      if (!input.has('json')) io.warn(`Key ${kept.id}. Keep it now: it is not shown again.`)
      return code
    },
  },
  {
    name: 'keys list',
    about: 'List API keys, without their secrets',
    flags: placeFlags,
    examples: ['keys list', 'keys list --json'],
    async run(input, io) {
      expectNoWords(input, 'list takes flags only')
      const now = Date.now()
      const { withKeysToRead } = await import('../../server/auth/open-keys.ts')
      const rows = await withKeysToRead(readPlace(input), async (keys) => {
        const used = await keys.lastUsed()
        return (await keys.list()).map((key) => describeKey(key, used[key.id], now))
      })
      const none = `There is no key. Make one with ${io.self} keys mint --help`
      return printResult(input, io, { keys: rows }, [
        ...rows.map((row) => keyLine(row, io)),
        io.paint('dim', rows.length === 0 ? none : countText(rows.length, 'key')),
      ])
    },
  },
  {
    name: 'keys revoke',
    args: '<id>',
    about: 'End an API key at once',
    flags: placeFlags,
    examples: ['keys revoke 5f0c2d9a8b7e6f10'],
    async run(input, io) {
      const id = readOnlyWord(input, 'revoke takes the id of one key')
      const revoked = await withKeyStore(input, (keys) => keys.revoke(id, Date.now()))
      if (input.has('json')) io.print(JSON.stringify({ id, revoked }))
      else if (revoked) io.print(`Key ${plain(id)} is revoked`)
      else io.warn(`There is no key ${plain(id)}`)
      return revoked ? exitCodes.ok : exitCodes.refused
    },
  },
  {
    name: 'keys rotate',
    about:
      'Make a new key that signs webhooks and cards; the former one stays published for a week',
    flags: placeFlags,
    examples: ['keys rotate'],
    async run(input, io) {
      expectNoWords(input, 'rotate takes flags only')
      const { withSecretPlace } = await import('../../server/auth/open-keys.ts')
      const { rotatePushKey } = await import('../../server/system/signing-keys.ts')
      await withSecretPlace(readPlace(input), rotatePushKey)
      const line = 'A server uses the new key when it starts the next time'
      return printResult(input, io, { rotated: true }, [line])
    },
  },
]

async function withKeyStore<T>(input: Input, work: (keys: KeyStore) => Promise<T>): Promise<T> {
  const { withKeys } = await import('../../server/auth/open-keys.ts')
  return withKeys(readPlace(input), work)
}

function readPlace(input: Input): Readonly<Record<'data' | 'postgres', string | undefined>> {
  return { data: input.text('data'), postgres: input.text('postgres') }
}

function readNewKey(input: Input, now: number): NewKey {
  const tenant = readName(input, 'tenant')
  const wanted = readScopes(input)
  const foreign = wanted.filter((scope) => !/^ops:|^tasks:\w+:all$/.test(scope))
  if (tenant === ALL_TENANTS && foreign.length > 0) {
    const possible = 'ops scopes and those of tasks that end in :all'
    throw new UsageError(`a key of all tenants has ${possible}, not ${foreign.join(', ')}`)
  }
  const expiresAt = readExpiry(input.text('expires'), now)
  const eventSources = readSources(input)
  return {
    tenant,
    principal: readName(input, 'principal'),
    scopes: wanted,
    ...(eventSources === undefined ? {} : { eventSources }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  }
}

function readName(input: Input, flag: string): string {
  const name = input.text(flag)
  if (name !== undefined && name !== '' && name.length <= LONGEST_NAME) return name
  throw new UsageError(`--${flag} takes a name of 1 to ${LONGEST_NAME} characters`)
}

function readScopes(input: Input): readonly Scope[] {
  const words = (input.text('scopes') ?? '').split(',').map((word) => word.trim())
  const unknown = words.filter((word) => !isScope(word))
  if (unknown.length === 0) return words.filter(isScope)
  throw new UsageError(`--scopes takes a list of ${scopes.join(', ')}`)
}

function readSources(input: Input): readonly string[] | undefined {
  const sources = input
    .text('event-sources')
    ?.split(',')
    .map((word) => word.trim())
  if (sources === undefined || sources.every((source) => source !== '')) return sources
  throw new UsageError('--event-sources takes a list of sources, such as ci,github')
}

function readExpiry(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined
  const at = parseInstant(text, now, 'future')
  if (at > now) return at
  throw new UsageError('--expires takes a time to come, such as 30d, 12h or an ISO 8601 instant')
}

function keyLine(row: ReturnType<typeof describeKey>, io: Io): string {
  const { id, state, tenant, principal, scopes: has, lastUsedAt } = row
  const used = lastUsedAt === undefined ? 'never used' : `used ${lastUsedAt}`
  const cells = [id, state.padEnd(7), plain(`${tenant}/${principal}`), has.join(',')]
  return `${cells.join('  ')}  ${io.paint('dim', used)}`
}

function describeKey(key: ApiKey, lastUsed: number | undefined, now: number) {
  const { id, tenant, principal, scopes: has, eventSources } = key
  const { createdAt, expiresAt, revokedAt } = key
  const state = isValid(key, now) ? 'valid' : revokedAt === undefined ? 'expired' : 'revoked'
  return {
    id,
    tenant,
    principal,
    scopes: has,
    eventSources,
    state,
    createdAt: iso(createdAt),
    expiresAt: iso(expiresAt),
    revokedAt: iso(revokedAt),
    lastUsedAt: iso(lastUsed),
  }
}

function iso(at: number | undefined): string | undefined {
  return at === undefined ? undefined : new Date(at).toISOString()
}
