/**
 * An MCP server over stdio that holds a connection to the port `WATCH` open, so that a test sees its end. With `STUBBORN` it
 * ignores the end of its input, and SIGTERM.
 */
import { connect } from 'node:net'
import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

const watch = connect(Number(process.env.WATCH), '127.0.0.1').unref()
if (process.env.STUBBORN !== undefined) {
  watch.ref()
  process.on('SIGTERM', () => undefined)
}
process.stderr.write('the server says hello\n')

serveStdio(() => {
  const server = new McpServer(
    { name: 'watched', version: '1.0.0' },
    { capabilities: { tools: {} } },
  )
  server.registerTool('hello', {}, async () => ({ content: [{ type: 'text', text: 'hello' }] }))
  return server
})
