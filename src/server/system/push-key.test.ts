import { createPrivateKey } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { scriptAgent } from '../../testing/script-agent/script-agent.ts'
import { serve } from '../serve.ts'
import { pushKey } from './signing-keys.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lull-key-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

it('makes a key once, readable by its owner alone', async () => {
  const pem = await pushKey({ data: directory })
  expect(createPrivateKey(pem).asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' })
  expect(await pushKey({ data: directory })).toBe(pem)
  expect(readdirSync(directory)).toEqual(['push.key'])
  expect(statSync(join(directory, 'push.key')).mode & 0o777).toBe(0o600)
})

it('is published by a server that signs, the same after a restart', async () => {
  const config = join(directory, 'lull.json')
  writeFileSync(config, JSON.stringify({ a2a: { pushSign: true } }))
  const options = { agents: [scriptAgent], port: 0, data: join(directory, 'data'), config }
  const published = async (): Promise<string> => {
    const serving = await serve({ ...options, log: () => undefined, quiet: true })
    const response = await fetch(`${serving.url}/.well-known/jwks.json`)
    expect(response.headers.get('content-type')).toBe('application/json')
    const jwks = await response.text()
    await serving.close()
    return jwks
  }
  const before = await published()
  expect(before).toContain('"crv":"P-256"')
  expect(await published()).toBe(before)
})

it('stops a server whose key is broken, and lets go of its data', async () => {
  const config = join(directory, 'lull.json')
  writeFileSync(config, JSON.stringify({ a2a: { pushSign: true } }))
  writeFileSync(join(directory, 'push.key'), 'half a k')
  const options = { agents: [scriptAgent], port: 0, data: directory, log: () => undefined }
  await expect(serve({ ...options, config })).rejects.toThrow('P-256')
  await (await serve(options)).close()
})
