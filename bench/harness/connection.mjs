/**
 * A keep-alive connection that sends text and waits for the whole answer, and nothing else: the client shares the
 * machine with the server, so what it spends is missing there.
 */
import { connect } from 'node:net'

const HEAD_END = Buffer.from('\r\n\r\n')
const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n')

export async function openConnection(port) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await new Promise((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  let buffer = Buffer.alloc(0)
  let waiting

  socket.on('data', (chunk) => {
    buffer = buffer.length === 0 ? chunk : Buffer.concat([buffer, chunk])
    if (waiting === undefined) return
    if (waiting.seenAt === undefined && buffer.includes(waiting.wanted)) {
      waiting.seenAt = performance.now()
    }
    const end = endOf(buffer)
    if (end === undefined) return
    const { resolve, seenAt } = waiting
    const answer = buffer.subarray(0, end)
    buffer = buffer.subarray(end)
    waiting = undefined
    resolve({ answer, seenAt })
  })
  const gone = (error) => waiting?.reject(error ?? new Error('the server closed the connection'))
  socket.on('error', gone)
  socket.on('close', () => gone())

  return {
    /** `answer`: its bytes, which hardly anybody reads. `seenAt`: when `wanted` had arrived; undefined when it never did. */
    ask: (request, wanted) =>
      new Promise((resolve, reject) => {
        waiting = { wanted, resolve, reject, seenAt: undefined }
        socket.write(request)
      }),
    /** Sends and never waits for an end. Resolves when `wanted` has arrived. */
    open: (request, wanted) =>
      new Promise((resolve, reject) => {
        socket.write(request)
        socket.once('error', reject)
        socket.on('data', function look() {
          if (!buffer.includes(wanted)) return
          buffer = Buffer.alloc(0)
          socket.off('data', look)
          resolve()
        })
      }),
    close: () => socket.destroy(),
  }
}

/** Where the answer ends, or undefined while it has not. */
function endOf(buffer) {
  const head = buffer.indexOf(HEAD_END)
  if (head < 0) return undefined
  const fields = buffer.latin1Slice(0, head)
  const length = /\r\ncontent-length: *(\d+)/i.exec(fields)
  if (length !== null) {
    const end = head + HEAD_END.length + Number(length[1])
    return end <= buffer.length ? end : undefined
  }
  const last = buffer.indexOf(LAST_CHUNK, head)
  return last < 0 ? undefined : last + LAST_CHUNK.length
}
