/** The whole server on a socket, in this process, with a hand on its store: to see what a request wrote. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Engine } from '../../src/engine/engine.ts'
import { noMeter } from '../../src/ports/meter.ts'
import type { Store } from '../../src/ports/store.ts'
import { createA2A } from '../../src/protocols/a2a/index.ts'
import { type Admission, defaultLimits } from '../../src/server/auth/admission.ts'
import { owner } from '../../src/server/auth/identity.ts'
import { createRefusedAttempts } from '../../src/server/auth/refused-attempts.ts'
import { createApp } from '../../src/server/http/app.ts'
import { createBytesInFlight } from '../../src/server/http/bytes-in-flight.ts'
import { createFront } from '../../src/server/http/front.ts'
import { listen } from '../../src/server/http/listen.ts'
import { openEngine } from '../../src/server/open-engine.ts'
import { createScriptAgent } from '../../src/testing/script-agent/script-agent.ts'
import { postgresOf, removeTestStore } from '../support/test-store.ts'

const unlimited: Admission = {
  enter: () => () => undefined,
  take: () => undefined,
  close: () => undefined,
}

export interface WholeServer extends AsyncDisposable {
  readonly url: string
  readonly engine: Engine
  readonly store: Store
}

export async function openWholeServer(): Promise<WholeServer> {
  const data = await mkdtemp(join(tmpdir(), 'lull-whole-'))
  const listener = await listen('127.0.0.1', 0)
  const url = `http://127.0.0.1:${listener.port}`
  const agents = [createScriptAgent()]
  const { engine, deps, close } = await openEngine({
    agents,
    data,
    postgres: postgresOf(data),
    log: () => undefined,
  })
  const { store, clock, ids, log } = deps
  const a2a = createA2A({ engine, store, clock, ids, log, publicUrl: url })
  await a2a.start()
  const app = createApp({ engine, log, url, identityOf: () => owner })
  listener.answer(
    createFront({
      inFlight: createBytesInFlight(defaultLimits.bytesInFlight),
      meter: noMeter,
      a2a,
      app,
      log,
      host: '127.0.0.1',
      authenticate: () => owner,
      admission: unlimited,
      refused: createRefusedAttempts(engine.audit),
    }),
  )
  return {
    url,
    engine,
    store,
    async [Symbol.asyncDispose]() {
      a2a.close()
      await close({ drainMs: 0 })
      await listener.close(0)
      await rm(data, { recursive: true, force: true })
      await removeTestStore(data)
    },
  }
}
