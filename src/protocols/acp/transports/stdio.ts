/** Lines of JSON on a pair of Node streams, for editors that start the agent as a process. */
import { Readable, Writable } from 'node:stream'
import { ndJsonStream, type Stream } from '@agentclientprotocol/sdk'

/** A stream for `acp.connect`: `stdioStream(process.stdout, process.stdin)`. */
export function stdioStream(output: Writable, input: Readable): Stream {
  return ndJsonStream(Writable.toWeb(output), Readable.toWeb(input))
}
