/**
 * Many readers in a process of their own, so that what they need is not counted as the server's. Told by its parent which
 * tasks to read; all of them read everything, except one that takes its first frame and then nothing more.
 *
 *   { url, tasks: [{ id, readers }], slowTask }  opens them             { opened }
 *   (the tasks go on)                            all but the slow end   { ended, fast, slow, slowEnded }
 *   'continue'                                   the slow one is back   { rest }
 */
import { Agent, request } from 'node:http'

/** More at once would wait in the queue of connections that nobody has accepted. */
const AT_ONCE = 100
const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY })

process.once('message', (orders) => {
  run(orders).catch((error) => {
    console.error(error)
    process.exit(1)
  })
})

async function run({ url, tasks, slowTask }) {
  const wanted = tasks.flatMap(({ id, readers }) => Array.from({ length: readers }, () => id))
  const readers = []
  for (let n = 0; n < wanted.length; n += AT_ONCE) {
    const wave = wanted.slice(n, n + AT_ONCE)
    readers.push(...(await Promise.all(wave.map((id) => open(url, id)))))
  }
  const slow = await open(url, slowTask, { slow: true })
  process.send({ opened: readers.length + 1 })

  const ends = await Promise.all(readers.map((reader) => reader.end))
  const onSlowTask = readers.find(({ taskId }) => taskId === slowTask)
  process.send({
    ended: ends.filter((state) => state === 'TASK_STATE_COMPLETED').length,
    fast: onSlowTask.ids,
    slow: slow.ids,
    slowEnded: slow.ended,
  })

  await new Promise((resolve) => process.once('message', resolve))
  slow.leave()
  const back = await open(url, slowTask, { lastEventId: slow.ids.at(-1) })
  process.send({ rest: back.ids, state: await back.end })
  process.disconnect()
}

/** A reader, once it has its first frame. `end` is the last state it was told. */
function open(url, taskId, { slow = false, lastEventId } = {}) {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'SubscribeToTask',
    params: { id: taskId },
  })
  const headers = {
    'content-type': 'application/json',
    'a2a-version': '1.0',
    ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
  }
  return new Promise((opened, failed) => {
    const asked = request(url, { method: 'POST', headers, agent })
    asked.on('error', failed)
    asked.on('response', (response) => {
      const reader = { taskId, ids: [], ended: false, leave: () => asked.destroy() }
      let text = ''
      let state = ''
      reader.end = new Promise((ended, cut) => {
        response.on('error', slow ? () => undefined : cut)
        response.on('end', () => {
          reader.ended = true
          ended(state)
        })
      })
      response.setEncoding('utf8')
      response.on('data', (chunk) => {
        text += chunk
        if (!chunk.includes('\n\n') && !text.endsWith('\n\n')) return
        const frames = text.split('\n\n')
        text = frames.pop()
        for (const frame of frames) {
          const id = /^id: (.*)$/m.exec(frame)?.[1]
          if (id === undefined) continue
          reader.ids.push(id)
          state = /"state":"(\w+)"/.exec(frame)?.[1] ?? state
        }
        if (reader.ids.length === 0) return
        if (slow) response.pause()
        opened(reader)
      })
    })
    asked.end(body)
  })
}
