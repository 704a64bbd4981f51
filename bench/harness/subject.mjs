/**
 * What is measured runs in a process of its own, so that its heap, its start and its CPU are its own. The row asks,
 * the subject answers; it goes when the row closes it, or with the row.
 */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Starts `subjects/<file>`; resolves when it serves. */
export async function startSubject(file, params = {}, { execArgv = [], env = {} } = {}) {
  const path = fileURLToPath(new URL(`../${file}`, import.meta.url))
  const child = fork(path, [JSON.stringify(params)], {
    execArgv: ['--expose-gc', ...execArgv],
    env: { ...process.env, ...env },
  })
  const gone = new Promise((_, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`${file} ended with code ${code}`)))
  })
  // Only a race that is under way hears of it: a subject that was closed has ended as it should.
  gone.catch(() => undefined)
  const answer = () => new Promise((resolve) => child.once('message', resolve))

  async function ask(name, input = {}) {
    const next = answer()
    child.send({ name, input })
    const { error, output } = await Promise.race([next, gone])
    if (error !== undefined) throw new Error(`${file}: ${error}`)
    return output
  }

  const { output: ready } = await Promise.race([answer(), gone])
  return {
    /** What the subject had to tell when it was ready. */
    ready,
    ask,
    async close() {
      await ask('close')
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.disconnect()
      await ended
    },
  }
}

/** In the subject: answers one question at a time. `open` gets the params and makes the handlers. */
export async function serveSubject(open) {
  const { handlers, ready = {} } = await open(JSON.parse(process.argv[2] ?? '{}'))
  process.once('disconnect', () => process.exit(0))
  process.on('message', async ({ name, input }) => {
    try {
      process.send({ output: (await handlers[name]?.(input)) ?? null })
    } catch (error) {
      process.send({ error: error.stack })
    }
  })
  process.send({ output: ready })
}

/** Bytes in use once garbage is gone. */
export function settledMemory() {
  for (let i = 0; i < 4; i++) globalThis.gc()
  const { rss, heapUsed } = process.memoryUsage()
  return { rss, heapUsed }
}
