import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readConfig } from './config.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lull-config-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

function file(text: string): string {
  const path = join(directory, 'lull.json')
  writeFileSync(path, text)
  return path
}

it('is empty where there is no file', () => {
  expect(readConfig(undefined)).toEqual({})
})

it('reads limits of the engine and names of the server', () => {
  const config = { engine: { graceMs: 5, requireHandle: true }, allowedHosts: ['a.example'] }
  expect(readConfig(file(JSON.stringify(config)))).toEqual(config)
})

it('reads what A2A can be told', () => {
  const config = { a2a: { pushSign: true, binduPausableStates: ['working'] } }
  expect(readConfig(file(JSON.stringify(config)))).toEqual(config)
})

it.each([
  ['{"a2a": {"binduPausableStates": ["completed"]}}', /a2a\.binduPausableStates\.0: /],
  ['{"engine": {"grace": 5}}', /engine\.grace: is not a known field/],
  ['{"engine": {"graceMs": "5"}}', /engine\.graceMs: /],
  ['{"engine": {"tenantShare": 0}}', /engine\.tenantShare: must be above 0 and at most 1/],
  ['{"engine": {"tenantShare": 1.5}}', /engine\.tenantShare: must be above 0 and at most 1/],
  ['{"allowedOrigins": ["app"]}', /allowedOrigins\.0: /],
  ['{"prot": 1}', /prot: is not a known field/],
])('refuses %s and says where', (text, problem) => {
  expect(() => readConfig(file(text))).toThrow(problem)
})

it('says in a sentence that the file is missing, or is no JSON', () => {
  expect(() => readConfig(join(directory, 'none.json'))).toThrow(/cannot be read/)
  expect(() => readConfig(file('{'))).toThrow(/is not JSON/)
})

describe('settings given in code', () => {
  it('win over the file, member by member', () => {
    const file = join(directory, 'lull.json')
    writeFileSync(file, JSON.stringify({ engine: { warmForMs: 1, graceMs: 2 }, bodyLimitBytes: 3 }))
    const given = { engine: { graceMs: 5 }, publicUrl: 'https://a.example/' }
    expect(readConfig(file, given)).toMatchObject({
      engine: { warmForMs: 1, graceMs: 5 },
      bodyLimitBytes: 3,
      publicUrl: 'https://a.example',
    })
  })

  it('are refused with their path, as in the file', () => {
    expect(() => readConfig(undefined, { bodyLimitBytes: -1 })).toThrow('bodyLimitBytes')
  })
})

it('takes a time as a text, and gives milliseconds', () => {
  const path = file('{"engine": {"tasksForMs": "30 days"}, "a2a": {"heartbeatMs": "4 seconds"}}')
  expect(readConfig(path)).toMatchObject({
    engine: { tasksForMs: 2_592_000_000 },
    a2a: { heartbeatMs: 4_000 },
  })
  expect(() => readConfig(file('{"engine": {"tasksForMs": "a while"}}'))).toThrow('tasksForMs')
})
