/** Loads agents from a module of the user: `export const agents = […]`, or a default export. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describeError } from '../../core/values/describe-error.ts'
import { StartError } from '../../server/process/start-error.ts'
import type { Agent } from '../../server/serve.ts'
import { type Flag, type Input, UsageError } from '../command.ts'

/** @throws UsageError when there is no such file, StartError when it holds no agents or does not load */
export async function loadAgents(file: string): Promise<readonly Agent[]> {
  const path = resolve(file)
  if (!existsSync(path)) throw new UsageError(`there is no file ${file}`)
  const module = await load(path, file)
  const agents = [module['agents'] ?? module['default'] ?? []].flat()
  if (agents.length > 0 && agents.every(isAgent)) return agents
  throw new StartError(
    `${file} exports no agents; write "export const agents = [agent({ … })]", or export one by default.`,
  )
}

async function load(path: string, file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return await import(pathToFileURL(path).href)
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
    if (code === 'ERR_UNKNOWN_FILE_EXTENSION') {
      throw new StartError(
        `This Node cannot load ${file}; compile it to JavaScript first, or use Node 22.18 or newer for TypeScript.`,
        { cause },
      )
    }
    // The stack shows the author where in the module the error was thrown.
    const why = describeError(cause).stack ?? describeError(cause).message
    throw new StartError(`${file} does not load.\n${why}`, { cause })
  }
}

function isAgent(value: unknown): value is Agent {
  if (typeof value !== 'object' || value === null || !('name' in value)) return false
  return typeof value.name === 'string' && ('run' in value || 'receive' in value)
}

export const agentSourceFlags: Readonly<Record<string, Flag>> = {
  script: { about: 'Serve the script agent in place of a module' },
  demo: { about: 'Serve the demo agents in place of a module' },
}

export async function agentsFor(input: Input): Promise<readonly Agent[]> {
  const { words, has } = input
  const [file, ...more] = words
  const sources = [file !== undefined, has('script'), has('demo')].filter(Boolean)
  if (sources.length !== 1 || more.length > 0) {
    throw new UsageError('give one module of agents, or --script, or --demo')
  }
  if (file !== undefined) return loadAgents(file)
  if (has('demo')) return (await import('../../demo/demo-agents.ts')).demoAgents
  const { scriptAgent } = await import('../../testing/script-agent/script-agent.ts')
  return [scriptAgent]
}
