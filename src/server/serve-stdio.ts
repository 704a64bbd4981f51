/** An engine behind stdin and stdout, as editors start it: it ends with its client, and tasks go on at the next start. */
import type { Readable, Writable } from 'node:stream'
import type { Agent } from '../engine/agent.ts'
import { createAcp, stdioStream } from '../protocols/acp/index.ts'
import { anybody } from './caller.ts'
import { readConfig } from './config.ts'
import { openEngine, toStderr } from './open-engine.ts'
import { readSettings } from './settings.ts'
import { watchStrayErrors } from './stray-errors.ts'
import { createLog } from './system/log.ts'
import { version } from './version.ts'

export interface StdioOptions {
  readonly agents: readonly Agent[]
  readonly input: Readable
  readonly output: Writable
  readonly data?: string | undefined
  readonly config?: string | undefined
}

export interface ServingStdio {
  /** Resolves when the client has gone. */
  readonly ended: Promise<void>
  close(): Promise<void>
}

/** @throws StartError or LullError, each with a sentence an operator can act on */
export async function serveStdio(given: StdioOptions): Promise<ServingStdio> {
  const { agents, input, output } = given
  const { data, receiptKey, logLevel, ...settings } = readSettings(given)
  const config = readConfig(settings.config)
  const log = createLog(toStderr, logLevel)
  const open = await openEngine({ agents, data, receiptKey, log, options: config.engine })
  const { engine, deps } = open
  const agentInfo = { name: agents[0]?.name ?? 'lull', version }
  const acp = createAcp({ ...deps, engine, agentInfo, cwd: process.cwd() })
  const unwatch = watchStrayErrors(log)
  const { closed } = acp.connect(stdioStream(output, input), { caller: anybody })

  return {
    ended: closed,
    async close() {
      acp.close()
      await open.close()
      unwatch()
    },
  }
}
