/**
 * Tests that values with unusual characters are returned unchanged, do not collide with other
 * values, and have no side effects.
 */

import type { LogRecord } from '../../core/records.ts'
import type { Json } from '../../core/values/json.ts'
import { RESERVED_MS } from '../../ports/store/cluster.ts'
import { creation, sampleClaim, sampleEvent, sampleHold, sampleRow, step } from '../sample-task.ts'
import type { Subject } from './subject.ts'
import { readyIds } from './work.ts'

/** Pairs of different strings that some drivers store as the same one. */
const strings: readonly string[] = [
  "'; DROP TABLE tasks; --",
  '" OR ""="',
  'a\0b',
  'a\0c',
  'a',
  'a\x7f0000b',
  '\ud800',
  '\udfff',
  '\ufffd',
  'e\u0301',
  '\u00e9',
  'ünïcödé 🜁 漢字',
  '%_*?[a-z]',
  ' a ',
  '__proto__',
  'constructor',
  'x'.repeat(20_000),
]

const nasty = JSON.parse(
  '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},' +
    '"nul":"a\\u0000b","lone":"\\ud800","big":1e308,"small":5e-324,"deep":[[[[[[null]]]]]]}',
) as Json

export function hostileContent(subject: Subject): void {
  identifiers(subject)
  bodies(subject)
}

function identifiers(subject: Subject): void {
  const { it, expect } = subject.kit
  it('keeps every id apart from every other, and finds it again', async () => {
    const { store } = subject
    const results = await store.commit(strings.map((id, n) => creation(id, { statusAt: n })))
    expect(results.every(({ status }) => status === 'written')).toBe(true)
    const listed = await store.list({ limit: 99 })
    expect(listed.map((row) => row.id).reverse()).toEqual(strings)
    for (const id of strings) {
      expect(await store.load('acme', id)).toEqual(
        expect.objectContaining({ records: creation(id).records }),
      )
      expect(await store.commit([step(id, 2)])).toEqual([{ status: 'written' }])
    }
  })

  it('keeps every tenant, principal, agent, context, parent, owner and name apart', async () => {
    const { store } = subject
    const rows = strings.map((text, n) =>
      sampleRow(`task-${n}`, {
        tenant: text,
        principal: text,
        agent: text,
        contextId: text,
        parentId: text,
        owner: text,
        readyAt: 1,
        waits: [text],
      }),
    )
    await store.commit(rows.map((row) => creation(row.id, row)))
    for (const row of rows) {
      const { id, tenant, principal, agent, contextId, parentId = '' } = row
      for (const query of [
        { tenant, principal },
        { tenant },
        { agent },
        { contextId },
        { parentId },
      ]) {
        expect(await store.list({ ...query, limit: 9 })).toEqual([row])
      }
      expect(await readyIds(store, agent, 9)).toEqual([id])
      expect(await store.waiting(tenant, [agent], '', 9)).toEqual([id])
      if (subject.cluster === undefined) {
        expect(await store.orphans(agent, 99)).toHaveLength(strings.length - 1)
      }
      await subject.cluster?.pass(RESERVED_MS)
    }
    expect([...(await store.readyAgents())].sort()).toEqual([...strings].sort())
  })

  it('keeps claims, contexts, events, values and holds apart', async () => {
    const { store } = subject
    for (const text of strings) {
      const claim = sampleClaim(text, { key: text, digest: text, tenant: text })
      expect(await store.claim(claim)).toEqual(claim)
      expect(await store.findClaim(claim)).toEqual(claim)
      const event = sampleEvent(text, { source: text, type: text, subject: text })
      expect((await store.appendEvents(text, [event], 1))[0]?.fresh).toBe(true)
      const stored = [expect.objectContaining({ tenant: text, event })]
      expect(await store.events(text, 0, 9, [text])).toEqual(stored)
      expect(await store.events(text, 0, 9, [`${text}:${text}`])).toEqual(stored)
      await store.setValue(text, text)
      await store.putHold(sampleHold(text, { reason: text }))
    }
    for (const text of strings) expect(await store.getValue(text)).toBe(text)
    expect((await store.holds()).map((hold) => hold.id)).toEqual(strings)
  })
}

function bodies(subject: Subject): void {
  const { it, expect } = subject.kit
  it('gives back any JSON as it was, as data, and pollutes nothing', async () => {
    const { store } = subject
    const record: LogRecord = { type: 'value', key: 'k', value: nasty, seq: 3, at: 1 }
    await store.commit([creation('task-1'), step('task-1', 2, { records: [record] })])
    await store.setValue('nasty', nasty)
    await store.appendEvents('acme', [sampleEvent('1', { data: nasty })], 1)

    const [read] = await store.records('acme', 'task-1', 2, 1)
    const [stored] = await store.events('acme', 0, 1)
    for (const value of [
      (read as typeof record).value,
      await store.getValue('nasty'),
      stored?.event.data,
    ]) {
      expect(JSON.stringify(value)).toBe(JSON.stringify(nasty))
      expect(Object.keys(value as object)).toContain('__proto__')
    }
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  })

  it('does not share what it was given or what it gives', async () => {
    const { store } = subject
    const waits = ['tick']
    const commit = creation('task-1', { waits })
    await store.commit([commit])
    waits.push('tock')
    for (const row of await store.list({ limit: 1 })) (row.waits as string[]).push('tack')
    expect(await store.list({ limit: 1 })).toEqual([sampleRow('task-1', { waits: ['tick'] })])
  })
}
