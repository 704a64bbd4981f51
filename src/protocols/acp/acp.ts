/**
 * The ACP adapter: the same tasks from editors, over any pair of streams.
 *
 *   const acp = createAcp({ engine, store, clock, ids, log, agentInfo })
 *   const connection = acp.connect(stream, { caller })     // one editor, until its stream ends
 *   acp.close()                                            // before engine.drain()
 */
import type { AgentConnection, Stream } from '@agentclientprotocol/sdk'
import type { Caller } from '../../engine/caller.ts'
import type { EngineDeps } from '../../engine/deps.ts'
import type { Engine } from '../../engine/engine.ts'
import { type AcpConfig, defaultConfig } from './config.ts'
import { createConnection } from './connection.ts'
import type { AcpContext } from './context.ts'
import { createFacts } from './facts.ts'
import { createLines } from './lines.ts'
import { createSessions } from './sessions.ts'
import type { AcpStore } from './store.ts'
import { createTurns } from './turns.ts'
import { createV1 } from './v1.ts'
import { createWatching } from './watching.ts'

export interface AcpOptions extends Pick<EngineDeps, 'clock' | 'ids' | 'log'> {
  readonly engine: Engine
  readonly store: AcpStore
  readonly agentInfo: { readonly name: string; readonly version: string }
  /** The working directory that sessions have which no editor opened. */
  readonly cwd: string
  readonly config?: Partial<AcpConfig>
}

export interface Acp {
  /** Serves one client until its stream ends. */
  connect(
    stream: Stream,
    env: { readonly caller: Caller },
  ): { readonly closed: Promise<void>; close(): void }
  /** Ends every connection. Tasks are not touched. */
  close(): void
}

export function createAcp(options: AcpOptions): Acp {
  const { engine, store, clock, ids, log, agentInfo, cwd } = options
  const config = { ...defaultConfig, ...options.config }
  const acp: AcpContext = {
    engine,
    store,
    clock,
    ids,
    log,
    config,
    agentInfo,
    facts: createFacts(config.harnTunnel),
    sessions: createSessions({ engine, store, clock, ids, cwd }),
    lines: createLines(),
    gates: createLines(),
    turns: createTurns(),
    watching: createWatching(engine),
  }
  const open = new Set<AgentConnection>()

  return {
    connect(stream, { caller }) {
      const connection = createConnection(acp, caller)
      const wire = createV1(connection).connect(stream)
      open.add(wire)
      const closed = wire.closed.finally(() => {
        open.delete(wire)
        connection.close()
      })
      return { closed, close: () => wire.close() }
    },
    close() {
      for (const wire of open) wire.close()
      acp.watching.close()
    },
  }
}
