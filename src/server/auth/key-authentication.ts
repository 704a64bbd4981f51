/** Accepts API keys as bearer tokens. The time of use is written at most once a minute. */
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import { identityOf, isSecretOf, isValid, keyIn } from './api-key.ts'
import type { TokenKind } from './authenticate.ts'
import type { KeyStore } from './key-store.ts'

export interface KeyAuthentication extends TokenKind {
  /** Writes the times of use that have not been written yet. */
  close(): Promise<void>
}

const NOTE_MS = 60_000

export function createKeyAuthentication(
  store: KeyStore,
  clock: Pick<Clock, 'now' | 'after'>,
  log: Log,
): KeyAuthentication {
  let uses: Record<string, number> = {}
  let cancel: (() => void) | undefined

  async function write(): Promise<void> {
    cancel?.()
    cancel = undefined
    const times = uses
    uses = {}
    if (Object.keys(times).length === 0) return
    await store
      .used(times)
      .catch((error: unknown) => log('warn', 'the use of keys was not noted', { error }))
  }

  function note(id: string, at: number): void {
    uses[id] = at
    cancel ??= clock.after(NOTE_MS, () => void write())
  }

  return {
    async identify(token) {
      const given = keyIn(token)
      if (given === undefined) return undefined
      const now = clock.now()
      const key = (await store.list()).find(({ id }) => id === given.id)
      if (key === undefined || !isSecretOf(key, given.secret) || !isValid(key, now)) {
        return undefined
      }
      note(key.id, now)
      return identityOf(key)
    },
    async stillValid(id) {
      const key = (await store.list()).find((one) => one.id === id)
      return key !== undefined && isValid(key, clock.now())
    },
    close: write,
  }
}
