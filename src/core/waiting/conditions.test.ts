import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CloudEvent, namesOf } from './cloud-event.ts'
import {
  ANY_NAME,
  type EventFilter,
  FILTER_NAMES,
  filterOf,
  matches,
  passes,
  type ResumeConditions,
  waitNames,
} from './conditions.ts'

// The same cases every time.
fc.configureGlobal({ seed: 8785 })

const event: CloudEvent = {
  id: 'e-1',
  source: '/ci/main',
  type: 'ci.build.completed',
  subject: '1234',
  priority: 3,
  data: {
    status: 'passed',
    attempts: 2,
    tags: ['fast', 'green'],
    commit: { sha: 'abc', author: { name: 'Ada' } },
    nothing: null,
  },
}

describe('the names of an event', () => {
  it('are its type and, with a subject, "type:subject"', () => {
    expect(namesOf(event)).toEqual(['ci.build.completed', 'ci.build.completed:1234'])
    expect(namesOf({ id: 'e', source: 's', type: 'tick' })).toEqual(['tick'])
  })
})

describe('onEvent', () => {
  it.each([
    ['ci.build.completed', true],
    ['ci.build.completed:1234', true],
    ['ci.build.completed:12', false],
    ['ci.build', false],
    ['1234', false],
    ['*', false],
    ['CI.BUILD.COMPLETED', false],
  ])('%s matches: %s', (onEvent, expected) => {
    expect(matches({ onEvent }, event)).toBe(expected)
  })

  it('does not match "type:subject" of an event without a subject', () => {
    const { subject: _, ...bare } = event
    expect(matches({ onEvent: 'ci.build.completed:1234' }, bare as CloudEvent)).toBe(false)
    expect(matches({ onEvent: 'ci.build.completed' }, bare as CloudEvent)).toBe(true)
  })
})

describe('conditions without onEvent or filter', () => {
  it.each<[string, ResumeConditions | undefined]>([
    ['none', undefined],
    ['an empty object', {}],
    ['a timeout', { timeout: { durationMinutes: 1 } }],
    ['a schedule', { trigger: { schedule: { cron: '* * * * *' } } }],
    ['an instant', { trigger: { at: '2026-01-01T00:00:00.000Z' } }],
  ])('%s: no event matches and none is waited for', (_, conditions) => {
    expect(matches(conditions, event)).toBe(false)
    expect(waitNames(conditions)).toEqual([])
  })
})

describe('a filter', () => {
  it.each<[string, EventFilter, boolean]>([
    ['exact: an attribute', { exact: { type: 'ci.build.completed' } }, true],
    ['exact: another value', { exact: { type: 'ci.build' } }, false],
    ['exact: every attribute counts', { exact: { type: event.type, subject: '5' } }, false],
    ['exact: an extension attribute', { exact: { priority: 3 } }, true],
    ['exact: the type of a value counts', { exact: { priority: '3' } }, false],
    ['exact: nothing asked', { exact: {} }, true],
    ['exact: an absent attribute', { exact: { dataschema: 'x' } }, false],

    ['exact: a value in the payload', { exact: { 'data.status': 'passed' } }, true],
    ['exact: a nested value', { exact: { 'data.commit.author.name': 'Ada' } }, true],
    ['exact: a whole object, keys in any order', { exact: { 'data.commit': commit } }, true],
    ['exact: an object with a key more', { exact: { 'data.commit': { sha: 'abc' } } }, false],
    ['exact: a list', { exact: { 'data.tags': ['fast', 'green'] } }, true],
    ['exact: a list in another order', { exact: { 'data.tags': ['green', 'fast'] } }, false],
    ['exact: a shorter list', { exact: { 'data.tags': ['fast'] } }, false],
    ['exact: a list is no object', { exact: { 'data.tags': { 0: 'fast', 1: 'green' } } }, false],
    ['exact: an item of a list', { exact: { 'data.tags.1': 'green' } }, true],
    ['exact: null', { exact: { 'data.nothing': null } }, true],
    ['exact: null is not absent', { exact: { 'data.absent': null } }, false],
    ['exact: null is no object', { exact: { 'data.nothing': {} } }, false],
    ['exact: an object is not null', { exact: { 'data.commit': null } }, false],
    ['exact: a path through a leaf', { exact: { 'data.status.length': 6 } }, false],
    ['exact: a path through null', { exact: { 'data.nothing.x': null } }, false],
    ['exact: the whole payload', { exact: { data: event.data ?? null } }, true],
    ['exact: "database" is no path', { exact: { database: 'x' } }, false],

    ['prefix', { prefix: { type: 'ci.' } }, true],
    ['prefix: not in the middle', { prefix: { type: 'build' } }, false],
    ['prefix: of a number', { prefix: { priority: '3' } }, false],
    ['prefix: of an absent attribute, even empty', { prefix: { dataschema: '' } }, false],
    ['suffix', { suffix: { type: '.completed', source: 'main' } }, true],
    ['suffix: of an absent attribute, even empty', { suffix: { dataschema: '' } }, false],
    ['suffix: not at the start', { suffix: { type: 'ci' } }, false],

    ['all of none', { all: [] }, true],
    ['any of none', { any: [] }, false],
    ['all', { all: [{ prefix: { type: 'ci' } }, { suffix: { source: 'main' } }] }, true],
    ['all but one', { all: [{ prefix: { type: 'ci' } }, { suffix: { source: 'x' } }] }, false],
    ['any', { any: [{ exact: { type: 'x' } }, { exact: { subject: '1234' } }] }, true],
    ['not', { not: { exact: { type: 'x' } } }, true],
    ['not not', { not: { not: { exact: { type: 'x' } } } }, false],
    [
      'nested',
      { all: [{ not: { any: [{ prefix: { type: 'x' } }] } }, { exact: { 'data.attempts': 2 } }] },
      true,
    ],
  ])('%s', (_, filter, expected) => {
    expect(passes(filter, event)).toBe(expected)
    expect(matches({ trigger: { filter } }, event)).toBe(expected)
  })

  it.each(['__proto__', 'constructor', 'toString', 'data.__proto__', 'data.constructor'])(
    'sees own properties only: %s is absent',
    (path) => {
      const wants = JSON.parse(`{"${path}":{}}`)
      expect(passes({ exact: wants }, event)).toBe(false)
      expect(passes({ exact: wants }, { ...event, data: {} })).toBe(false)
      expect(passes({ exact: wants }, { ...event, data: [] })).toBe(false)
    },
  )

  it('finds a payload key that is called "__proto__"', () => {
    const data = JSON.parse('{"__proto__":{"admin":true}}')
    const wants = JSON.parse('{"data.__proto__.admin":true}')
    expect(passes({ exact: wants }, { ...event, data })).toBe(true)
  })

  it('never matches a payload that is not there', () => {
    const { data: _, ...bare } = event
    expect(passes({ exact: { 'data.status': 'passed' } }, bare as CloudEvent)).toBe(false)
    expect(passes({ exact: { data: null } }, bare as CloudEvent)).toBe(false)
  })
})

describe('onEvent and a filter together', () => {
  it('match when either does', () => {
    const conditions: ResumeConditions = {
      onEvent: 'tick',
      trigger: { filter: { exact: { type: 'ci.build.completed' } } },
    }
    expect(matches(conditions, event)).toBe(true)
    expect(matches(conditions, { id: 'e', source: 's', type: 'tick' })).toBe(true)
    expect(matches(conditions, { id: 'e', source: 's', type: 'tock' })).toBe(false)
  })
})

describe('the names a task waits under', () => {
  it.each<[string, EventFilter, string]>([
    ['a pinned type', { exact: { type: 'a' } }, 'a'],
    [
      'a type pinned inside all',
      { all: [{ prefix: { source: 'x' } }, { exact: { type: 'a' } }] },
      'a',
    ],
    ['a type pinned deep inside all', { all: [{ all: [{ exact: { type: 'a' } }] }] }, 'a'],
    [
      'a type inside any',
      { any: [{ exact: { type: 'a' } }] },
      `${FILTER_NAMES}{"any":[{"exact":{"type":"a"}}]}`,
    ],
    [
      'a type inside not',
      { not: { exact: { type: 'a' } } },
      `${FILTER_NAMES}{"not":{"exact":{"type":"a"}}}`,
    ],
    ['another attribute', { exact: { source: 'a' } }, `${FILTER_NAMES}{"exact":{"source":"a"}}`],
    ['a type that is no string', { exact: { type: 5 } }, `${FILTER_NAMES}{"exact":{"type":5}}`],
    ['a filter too long for a name', { exact: { source: 'a'.repeat(3_000) } }, ANY_NAME],
  ])('%s', (_, filter, name) => {
    expect(waitNames({ trigger: { filter } })).toEqual([name])
  })

  it('are listed once each', () => {
    const filter: EventFilter = { exact: { type: 'a' } }
    expect(waitNames({ onEvent: 'a', trigger: { filter } })).toEqual(['a'])
    expect(waitNames({ onEvent: 'b', trigger: { filter } })).toEqual(['b', 'a'])
  })

  it('are sound: whatever matches is found by one of them', () => {
    fc.assert(
      fc.property(someConditions, someEvent, (conditions, candidate) => {
        if (!matches(conditions, candidate)) return
        const findable = [...namesOf(candidate), ANY_NAME]
        const found = waitNames(conditions).some((name) => {
          const filter = filterOf(name)
          return findable.includes(name) || (filter !== undefined && passes(filter, candidate))
        })
        expect(found).toBe(true)
      }),
      { numRuns: 2_000 },
    )
  })
})

const commit = { author: { name: 'Ada' }, sha: 'abc' }

// Few values, so that matches are frequent.
const word = fc.constantFrom('a', 'b', 'a:b', 'ab', '*')
const attribute = fc.constantFrom('type', 'subject', 'source', 'data', 'data.x', '__proto__')
const someEvent: fc.Arbitrary<CloudEvent> = fc
  .record(
    { id: word, source: word, type: word, subject: word, data: fc.record({ x: word }) },
    { requiredKeys: ['id', 'source', 'type'] },
  )
  .map((made) => made as CloudEvent)
const { filter: someFilter } = fc.letrec<{ filter: EventFilter }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 4 },
    fc.record({ exact: fc.dictionary(attribute, word, { maxKeys: 2 }) }),
    fc.record({ prefix: fc.dictionary(attribute, word, { maxKeys: 2 }) }),
    fc.record({ suffix: fc.dictionary(attribute, word, { maxKeys: 2 }) }),
    fc.record({ all: fc.array(tie('filter'), { maxLength: 3 }) }),
    fc.record({ any: fc.array(tie('filter'), { maxLength: 3 }) }),
    fc.record({ not: tie('filter') }),
  ),
}))
const someConditions: fc.Arbitrary<ResumeConditions> = fc.record(
  { onEvent: word, trigger: fc.record({ filter: someFilter }) },
  { requiredKeys: [] },
)
