// An agent for an editor, over the Agent Client Protocol. It reads files, and asks before it writes one.
//   npm run -s lull -- acp examples/ai-code-agent.mjs
import { readFile, writeFile } from 'node:fs/promises'
import { resolve, sep } from 'node:path'
import { tool } from 'ai'
import { aiAgent } from 'lull/ai'
import { z } from 'zod'
import { model } from './ai/model.mjs'

const home = resolve(process.env.CODE_AGENT_DIRECTORY ?? '.')

function inside(path) {
  const whole = resolve(home, path)
  if (whole !== home && !whole.startsWith(home + sep))
    throw new Error(`${path} is not in the project`)
  return whole
}

const readText = tool({
  description: 'Reads a file of the project',
  inputSchema: z.object({ path: z.string() }),
  execute: ({ path }) => readFile(inside(path), 'utf8'),
})

const writeText = tool({
  description: 'Writes a file of the project',
  inputSchema: z.object({ path: z.string(), text: z.string() }),
  needsApproval: true,
  execute: async ({ path, text }) => {
    await writeFile(inside(path), text)
    return 'written'
  },
})

export default aiAgent({
  name: 'coder',
  description: 'Reads and writes files of the project',
  system: 'You are a careful programmer. Read before you write.',
  model: model(
    [['read_text', { path: 'greeting.txt' }]],
    [['write_text', { path: 'greeting.txt', text: 'Hello, world!\n' }]],
    'The greeting now ends with a mark.',
  ),
  tools: { read_text: readText, write_text: writeText },
})
