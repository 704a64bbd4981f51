// A program that watches an agent of another server, pauses it, and lets it go on. Start any server first, then:
//   node examples/pause-from-code.mjs http://127.0.0.1:8787/agents/script
import { createClient } from 'lull/client'

const client = createClient({ url: process.argv[2] ?? 'http://127.0.0.1:8787/agents/script' })
const script = [{ repeat: 20, ops: [{ step: 'tick', ms: 50 }] }, { complete: 'twenty ticks' }]

const sent = await client.send([{ data: { script } }], { returnImmediately: true })
if (sent.kind !== 'task') throw new Error('a task was expected')

const paused = await client.pause(sent.task.id, { reason: 'a look at the numbers' })
console.log('paused:', paused.outcome)

await client.resume(sent.task.id)
const done = await client.waitFor(sent.task.id, 'completed')
console.log('then:', done.state)
