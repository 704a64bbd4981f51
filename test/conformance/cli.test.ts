import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { Summary } from '../../conformance/runner/report.ts'

const RUN = fileURLToPath(new URL('../../conformance/run.ts', import.meta.url))

function cli(...args: readonly string[]): Promise<{ code: number; out: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['--import', 'tsx', RUN, ...args], (error, out) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out }),
    )
  })
}

/** A card and nothing behind it. */
async function withCard<T>(body: (url: string) => Promise<T>): Promise<T> {
  const server = createServer((request, response) => {
    if (!request.url?.startsWith('/.well-known/')) {
      response.writeHead(404).end()
      return
    }
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    response
      .setHeader('content-type', 'application/json')
      .setHeader('etag', '"1"')
      .end(
        JSON.stringify({
          name: 'empty',
          supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
        }),
      )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return body(url).finally(() => new Promise((resolve) => server.close(resolve)))
}

test('a failed MUST is exit code 1, and is told with the answer that came', async () => {
  await withCard(async (url) => {
    const { code, out } = await cli(url, '--only', 'CORE-GET-002', '--only', 'CARD-DISC-001')
    expect(code).toBe(1)
    expect(out).toContain('FAIL MUST   1.0/jsonrpc CORE-GET-002')
    expect(out).toContain('ok   MUST   1.0/card    CARD-DISC-001')
    expect(out).toContain('skip MUST   1.0/rest    CORE-GET-002')
    expect(out).toContain('1 passed, 1 failed, 1 not applicable')
  })
})

test('a failed SHOULD is exit code 0', async () => {
  await withCard(async (url) => {
    const { code, out } = await cli(url, '--only', 'CARD-CACHE-001')
    expect(out).toContain('FAIL SHOULD')
    expect(code).toBe(0)
  })
})

test('--json prints the same facts for programs', async () => {
  await withCard(async (url) => {
    const { out } = await cli(url, '--json', '--only', 'CARD-DISC-001', '--profile', '1.0.0')
    const summary = JSON.parse(out) as Summary
    expect(summary).toMatchObject({ target: url, profile: '1.0.0' })
    expect(summary.results).toMatchObject([
      { id: 'CARD-DISC-001', level: 'MUST', section: '8.1', lane: '1.0/card', status: 'pass' },
    ])
  })
})

test('a wrong call prints the usage and is exit code 2', async () => {
  const { code, out } = await cli('http://127.0.0.1:1', '--profile', '2.0')
  expect(code).toBe(2)
  expect(out).toContain('--profile 1.0.0 | 1.0.1')
})
