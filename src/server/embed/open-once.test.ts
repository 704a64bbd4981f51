import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { agent } from '../../engine/author/agent.ts'
import { embed } from './embed.ts'

const echo = agent({ name: 'echo', description: 'Says it again', run: (task) => task.text })

let data: string
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'lull-embed-'))
})
afterEach(() => rmSync(data, { recursive: true }))

const common = { agents: [echo], url: 'http://127.0.0.1/lull', log: () => undefined }

it.each(['pushSign', 'signCards'])('signs with the key of the data directory: %s', async (name) => {
  const a2a = { [name]: true }
  const lull = embed({ ...common, data, a2a, insecure: true })
  await lull.engine
  const keys = await lull.fetch(new Request('http://127.0.0.1/lull/.well-known/jwks.json'))
  expect(await keys.json()).toMatchObject({ keys: [{ crv: 'P-256' }] })
  await lull.close()
})

it('lets go of the store when it cannot mount what it opened, and opens it at the next call', async () => {
  const key = join(data, 'push.key')
  writeFileSync(key, 'not a key')
  const failed = embed({ ...common, data, a2a: { pushSign: true } })
  await expect(failed.engine).rejects.toThrow()
  rmSync(key)
  const second = embed({ ...common, data, a2a: { pushSign: true } })
  expect((await second.engine).agents.has('echo')).toBe(true)
  await second.close()
})
