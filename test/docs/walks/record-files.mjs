/**
 * Preloaded into a process (`node --import`): tells its parent which files of `src` ran.
 *
 * A file ran when V8 counted a call of one of its functions. The top level of a module, which runs when the module is loaded,
 * is not counted. Counts of threads are included. Reading the counts resets them.
 */
import { readFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { setTimeout as sleep } from 'node:timers/promises'

const dist = new URL('../../../dist/', import.meta.url).href
/** The process is idle after this many readings in a row without a call. */
const IDLE_READINGS = 3
const READING_MS = 30
const MOST_READINGS = 250

/** Timers of this time and above belong to background work, such as retention. They never fire, so only requests run. */
const BACKGROUND_MS = 100
const startTimer = globalThis.setTimeout
globalThis.setTimeout = (run, ms, ...args) =>
  startTimer(run, ms >= BACKGROUND_MS ? 2 ** 30 : ms, ...args)

const session = new Session()
session.connect()

/** `post` of each thread that runs. */
const threads = new Map([['main', (method, params) => session.post(method, params)]])

async function start(post) {
  await post('Profiler.enable')
  await post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
}

session.on('NodeWorker.attachedToWorker', ({ params: { sessionId } }) => {
  const pending = new Map()
  let last = 0
  const post = (method, params) =>
    new Promise((resolve) => {
      const id = ++last
      pending.set(id, resolve)
      const message = JSON.stringify({ id, method, params })
      session
        .post('NodeWorker.sendMessageToWorker', { sessionId, message })
        .catch(() => resolve({}))
    })
  threads.set(sessionId, post)
  session.on('NodeWorker.receivedMessageFromWorker', ({ params }) => {
    if (params.sessionId !== sessionId) return
    const { id, result } = JSON.parse(params.message)
    pending.get(id)?.(result ?? {})
    pending.delete(id)
  })
  session.on('NodeWorker.detachedFromWorker', ({ params }) => {
    if (params.sessionId === sessionId) threads.delete(sessionId)
  })
  // `post` never rejects. The thread waits for the second call.
  start(post).catch(() => undefined)
  post('Runtime.runIfWaitingForDebugger').catch(() => undefined)
})

await start(threads.get('main'))
await session.post('NodeWorker.enable', { waitForDebuggerOnStart: true })

const isModule = ({ functionName, ranges: [{ startOffset }] }) =>
  functionName === '' && startOffset === 0

async function readCounts() {
  const taken = await Promise.all(
    [...threads.values()].map((post) => post('Profiler.takePreciseCoverage')),
  )
  return taken
    .flatMap(({ result = [] }) => result)
    .filter(({ url }) => url.startsWith(dist))
    .filter(({ functions }) =>
      functions.some((one) => !isModule(one) && one.ranges.some(({ count }) => count > 0)),
    )
    .map(({ url }) => url)
}

/** The file that a file of `dist` was made from, by its source map. */
function sourceOf(url) {
  const { sources } = JSON.parse(readFileSync(new URL(`${url}.map`), 'utf8'))
  return new URL(sources[0], url).href.slice(new URL('..', dist).href.length)
}

/** The files that ran since the last call, as soon as the process is idle. */
async function filesThatRan() {
  const ran = new Set()
  let idle = 0
  for (let reading = 0; idle < IDLE_READINGS && reading < MOST_READINGS; reading += 1) {
    const urls = await readCounts()
    for (const url of urls) ran.add(url)
    idle = urls.length === 0 ? idle + 1 : 0
    await sleep(READING_MS)
  }
  return [...ran].map(sourceOf).sort()
}

let later = 0
const elapsed = performance.now.bind(performance)
performance.now = () => elapsed() + later

process.on('message', async (message) => {
  // What is read again only after a while, such as the size of the store, is read again from now on.
  if (message === 'time passes') later += 2_000
  if (message === 'files') process.send({ files: await filesThatRan() })
})
process.on('disconnect', () => process.exit())
