/** The floor of the HTTP rows: `node:http`, JSON in, JSON of the same size as our answer out, nothing in between. */
import { createServer } from 'node:http'
import { serveSubject } from '../harness/subject.mjs'

await serveSubject(async ({ sample }) => {
  const answer = JSON.parse(sample)
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      const { id } = JSON.parse(body)
      const text = JSON.stringify({ ...answer, id })
      response.setHeader('content-type', 'application/json')
      response.setHeader('content-length', Buffer.byteLength(text))
      response.end(text)
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    ready: { port: server.address().port },
    handlers: {
      cpu: () => process.cpuUsage(),
      close() {
        server.close()
        server.closeAllConnections()
      },
    },
  }
})
