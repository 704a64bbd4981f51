/** The client of the HTTP rows, in a process of its own: so many connections, each asks again as soon as it is answered. */
import { openConnection } from '../harness/connection.mjs'
import { bodies, httpText } from '../harness/requests.mjs'
import { spread } from '../harness/statistics.mjs'
import { serveSubject } from '../harness/subject.mjs'
import { elapsed } from '../harness/turns.mjs'

await serveSubject(async () => ({ handlers: { load, collect, pauses, streams, close: release } }))

/** @param wanted text every answer must hold; when it has arrived, the answer counts as there */
async function load({ port, kind, wanted, connections, ms, ids }) {
  const open = await Promise.all(Array.from({ length: connections }, () => openConnection(port)))
  const needle = Buffer.from(wanted)
  const times = []
  const started = performance.now()
  await Promise.all(
    open.map(async (connection) => {
      while (elapsed(started) < ms) {
        const request = httpText(port, bodies[kind](ids))
        const before = performance.now()
        const { answer, seenAt } = await connection.ask(request, needle)
        if (seenAt === undefined)
          throw new Error(`an answer without ${wanted}: ${String(answer).slice(0, 800)}`)
        times.push(seenAt - before)
      }
    }),
  )
  const rate = (times.length * 1_000) / elapsed(started)
  for (const connection of open) connection.close()
  return { rate, ...spread(times) }
}

/** Sends messages and gives the ids of the tasks, and one answer as a sample. */
async function collect({ port, count }) {
  const connection = await openConnection(port)
  const ids = []
  let sample
  for (let i = 0; i < count; i++) {
    const { answer } = await connection.ask(httpText(port, bodies.send()), Buffer.from('task'))
    const text = String(answer)
    sample = text.slice(text.indexOf('{'))
    ids.push(/"task":\{"id":"([^"]+)"/.exec(text)[1])
  }
  connection.close()
  return { ids, sample }
}

/** Pause, get and resume of tasks that stand at a step boundary, one at a time: how long pause and get take. */
async function pauses({ port, tasks, rounds }) {
  const connection = await openConnection(port)
  const ask = async (kind, ids, wanted, path) => {
    const before = performance.now()
    const { answer, seenAt } = await connection.ask(
      httpText(port, bodies[kind](ids), path),
      Buffer.from(wanted),
    )
    const text = String(answer)
    if (seenAt === undefined) throw new Error(`${kind}: ${text.slice(0, 800)}`)
    return { text, ms: seenAt - before }
  }
  const ids = []
  for (let i = 0; i < tasks; i++) {
    const { text } = await ask('start', [], '"task":{"id"', '/agents/idler')
    ids.push(/"task":\{"id":"([^"]+)"/.exec(text)[1])
  }
  const times = { pause: [], get: [] }
  for (let round = 0; round < rounds; round++) {
    for (const id of ids) {
      times.pause.push((await ask('pause', [id], 'paused-by-client')).ms)
      times.get.push((await ask('get', [id], 'paused-by-client')).ms)
      await ask('resume', [id], 'explicit_resume')
    }
  }
  connection.close()
  return { pause: spread(times.pause), get: spread(times.get) }
}

const held = []

/** Opens a stream on each task and keeps it; resolves when each has sent its first frame. */
async function streams({ port, ids }) {
  for (const id of ids) {
    const connection = await openConnection(port)
    await connection.open(httpText(port, bodies.subscribe([id])), Buffer.from('"result"'))
    held.push(connection)
  }
  return held.length
}

function release() {
  for (const connection of held) connection.close()
}
