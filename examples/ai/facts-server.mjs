// A small MCP server on stdin and stdout.
import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

const facts = { lull: 'Lull keeps tasks.', sea: 'The sea is wide.' }

serveStdio(() => {
  const server = new McpServer({ name: 'facts', version: '1.0.0' })
  const about = { description: 'Looks a word up', inputSchema: z.object({ word: z.string() }) }
  server.registerTool(
    'look_up',
    { ...about, annotations: { readOnlyHint: true } },
    async ({ word }) => ({
      content: [{ type: 'text', text: facts[word] ?? 'Nothing is known.' }],
    }),
  )
  return server
})
