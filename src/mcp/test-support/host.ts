/** A program that has called a tool of the watched server. It then throws or waits, as its argument says. */
import { createMcpClient } from '../client/mcp-client.ts'
import { watchedServer } from './watched-server.ts'

const [, , end = '', port = '', ...more] = process.argv
const client = createMcpClient({ watched: watchedServer(Number(port), more.includes('stubborn')) })
await client.list('watched', () => undefined)
if (end === 'throws') throw new Error('the program failed')
process.stdout.write('called\n')
