/**
 * API keys in the data directory: `keys.json`, and `keys-used.json` with the times of use. Only the
 * owner can read them. Each change replaces the whole file, so readers see either the old list or
 * the new one. Writers exclude each other with `keys.lock`, which exists only during a change.
 */
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { describeError } from '../../core/values/describe-error.ts'
import { parse } from '../../engine/input/parse.ts'
import { StartError } from '../process/start-error.ts'
import type { ApiKey } from './api-keys.ts'
import { type KeyStore, keySchema, revoked } from './key-store.ts'

const keysFile = z.strictObject({ keys: z.array(keySchema) })
const usedFile = z.record(z.string(), z.number())

const LOCK_MS = 5_000
const RETRY_MS = 20

export function createKeyFile(data: string): KeyStore {
  const file = join(data, 'keys.json')
  const usesFile = join(data, 'keys-used.json')
  const lockFile = join(data, 'keys.lock')
  let read: { readonly stamp: string; readonly keys: readonly ApiKey[] } | undefined

  /** Reads the file again only if it was replaced. */
  function keys(): readonly ApiKey[] {
    const stamp = stampOf(file)
    if (stamp === undefined) return []
    if (read?.stamp !== stamp) read = { stamp, keys: parsed(file, keysFile)?.keys ?? [] }
    return read.keys
  }

  async function change<T>(
    make: (now: readonly ApiKey[]) => readonly ApiKey[] | undefined,
    then: T,
  ) {
    const free = await lock(data, lockFile)
    try {
      const next = make(keys())
      if (next === undefined) return undefined
      replace(file, { keys: next })
      return then
    } finally {
      free()
    }
  }

  return {
    list: async () => keys(),
    async add(key) {
      await change((now) => [...now, key], true)
    },
    revoke: async (id, at) => (await change((now) => revoked(now, id, at), true)) ?? false,
    lastUsed: async () => parsed(usesFile, usedFile) ?? {},
    async used(times) {
      replace(usesFile, { ...parsed(usesFile, usedFile), ...times })
    },
  }
}

/** Identifies the content: it changes when the file is replaced. */
function stampOf(file: string): string | undefined {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false })
  return found && `${found.ino} ${found.mtimeNs} ${found.size}`
}

/**
 * @throws StartError for a file with unexpected content, so that nothing is mistaken for a valid
 * key
 */
function parsed<T>(file: string, schema: z.ZodType<T>): T | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    return parse(schema, JSON.parse(text))
  } catch (cause) {
    const why = describeError(cause).message
    throw new StartError(`${file} cannot be read: ${why}. Restore it from a backup.`, { cause })
  }
}

function replace(file: string, value: object): void {
  const next = `${file}.${process.pid}.new`
  writeFileSync(next, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flush: true })
  renameSync(next, file)
}

/**
 * @returns a function that removes the lock. A lock that a dead process left behind is broken after
 * some seconds.
 */
async function lock(data: string, file: string): Promise<() => void> {
  mkdirSync(data, { recursive: true, mode: 0o700 })
  const free = (): void => rmSync(file, { force: true })
  const deadline = performance.now() + LOCK_MS
  for (;;) {
    try {
      closeSync(openSync(file, 'wx', 0o600))
      return free
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    if (performance.now() >= deadline) free()
    await sleep(RETRY_MS)
  }
}
