import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createScriptAgent } from '../../testing/script-agent/script-agent.ts'
import { mintKey } from '../auth/api-keys.ts'
import { createKeyFile } from '../auth/key-file.ts'
import { type RunningServer, startServer } from '../serve.ts'

export interface KeyedServer {
  readonly serving: RunningServer
  readonly keys: ReturnType<typeof createKeyFile>
  mint(grant: Parameters<typeof mintKey>[0]): Promise<MintedKey>
  close(): Promise<void>
}

export interface MintedKey {
  readonly id: string
  readonly key: string
  readonly headers: { readonly authorization: string }
}

/** A server of the script agent that asks every caller for an API key, with a data directory of its own. */
export async function openKeyedServer(): Promise<KeyedServer> {
  const data = mkdtempSync(join(tmpdir(), 'lull-keyed-'))
  const keys = createKeyFile(data)
  const serving = await startServer({
    agents: [createScriptAgent()],
    port: 0,
    data,
    store: 'memory',
    auth: { modes: ['keys'] },
    log: () => undefined,
  })
  return {
    serving,
    keys,
    async mint(grant) {
      const { kept, key } = mintKey(grant, Date.now())
      await keys.add(kept)
      return { id: kept.id, key, headers: { authorization: `Bearer ${key}` } }
    },
    async close() {
      await serving.close()
      rmSync(data, { recursive: true })
    },
  }
}
