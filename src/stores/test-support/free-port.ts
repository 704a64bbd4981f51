/**
 * A port of 127.0.0.1 for a server that needs to know its port before it starts, or that is started again on it. The port
 * is below the range from which systems choose ports by themselves, so no other server or connection gets it meanwhile.
 */
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

const LOWEST = 20_000
const HIGHEST = 32_000

export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}
