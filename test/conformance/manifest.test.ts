import { describe, expect, test } from 'vitest'
import { createJsonRpc } from '../../conformance/dialects/jsonrpc.ts'
import { createRest } from '../../conformance/dialects/rest.ts'
import { A2A_JS_1_3_0 } from '../../conformance/expected-failures/a2a-js-1.3.0.ts'
import { LULL } from '../../conformance/expected-failures/lull.ts'
import { KIT_0_3_IDS } from '../../conformance/lists/tck-0.3-mandatory.ts'
import { KIT_1_0 } from '../../conformance/lists/tck-1.0-dev.ts'
import type { Case, Result } from '../../conformance/model.ts'
import { MANIFEST } from '../../conformance/requirements/index.ts'
import { judge } from '../../conformance/runner/expected-failures.ts'
import { keyOf, lanesOf } from '../../conformance/runner/run.ts'

describe('the manifest', () => {
  test.each(KIT_1_0)(
    'has a case for $id of the official kit, level and section as there',
    (listed) => {
      const cases = MANIFEST.filter(({ id }) => id === listed.id)
      expect(cases.length).toBeGreaterThan(0)
      for (const { level, section } of cases)
        expect({ level, section }).toEqual({ level: listed.level, section: listed.section })
    },
  )

  test.each(KIT_0_3_IDS)('has a case for %s of the official 0.3 kit', (id) => {
    expect(MANIFEST.filter(({ covers }) => covers?.includes(id)).length).toBeGreaterThan(0)
  })

  test('names no test of the 0.3 kit that does not exist', () => {
    const named = MANIFEST.flatMap(({ covers = [] }) => covers)
    expect(named.filter((id) => !KIT_0_3_IDS.includes(id))).toEqual([])
  })

  test('has every id of its own under a known prefix', () => {
    const listed = new Set(KIT_1_0.map(({ id }) => id))
    const strange = MANIFEST.filter(({ id }) => !listed.has(id) && !/^(V03|SPEC|LULL)-/.test(id))
    expect(strange.map(({ id }) => id)).toEqual([])
  })

  test('runs no case twice on the same lane', () => {
    const all = MANIFEST.flatMap((item) => lanesOf(item).map((lane) => `${keyOf(item)} ${lane}`))
    expect(all.filter((key, i) => all.indexOf(key) !== i)).toEqual([])
  })

  test('has steps or a reason not to have any', () => {
    const wrong = MANIFEST.filter(
      ({ steps, excluded }) => (steps.length === 0) !== (excluded !== undefined),
    )
    expect(wrong.map(keyOf)).toEqual([])
  })

  test('checks something in every case', () => {
    const idle = MANIFEST.filter(
      ({ steps }) =>
        steps.length > 0 &&
        !steps.some(
          (step) =>
            'probe' in step ||
            'delivered' in step ||
            'until' in step ||
            ('expect' in step && step.expect?.length),
        ),
    )
    expect(idle.map(keyOf)).toEqual([])
  })

  test('leaves out gRPC only because there is no driver', () => {
    const grpc = MANIFEST.filter(({ bindings }) => bindings.includes('grpc'))
    expect(grpc.length).toBe(7)
    expect(grpc.every(({ excluded }) => excluded?.startsWith('not applicable yet'))).toBe(true)
  })

  test('sends A2A-Version with every 1.0 request (VER-CLIENT-001), and never with 0.3', () => {
    for (const create of [createJsonRpc, createRest]) {
      const args = { id: 'x', taskId: 'x' }
      expect(create('1.0').request('get', args, 'http://x').headers['a2a-version']).toBe('1.0')
      expect(create('0.3').request('get', args, 'http://x').headers).not.toHaveProperty(
        'a2a-version',
      )
    }
  })
})

describe('expected failures', () => {
  const keys = new Set(MANIFEST.map(keyOf))

  test.each([
    ['a2a-js 1.3.0', A2A_JS_1_3_0],
    ['Lull', LULL],
  ])('of %s name cases that exist, with a reason', (_, entries) => {
    expect(entries.filter(({ key, reason }) => !keys.has(key) || reason.length < 10)).toEqual([])
  })

  const one = MANIFEST[0] as Case
  const result = (lane: Result['lane'], status: Result['status']): Result => ({
    key: keyOf(one),
    case: one,
    lane,
    status,
    reason: '',
    ms: 0,
  })
  const entry = { key: keyOf(one), reason: 'known since the beginning' }

  test('are forgiven', () => {
    const verdict = judge([result('1.0/rest', 'fail')], [entry], '1.0.1')
    expect(verdict).toEqual({ unexpected: [], stale: [] })
  })

  test('that no longer fail are an error', () => {
    const results = [result('1.0/rest', 'fail'), result('1.0/jsonrpc', 'pass')]
    expect(judge(results, [entry], '1.0.1').stale).toEqual([entry])
    const onRest = { ...entry, lanes: ['1.0/rest'] }
    expect(judge(results, [onRest], '1.0.1').stale).toEqual([])
  })

  test('of another profile do not count', () => {
    const verdict = judge(
      [result('1.0/rest', 'fail')],
      [{ ...entry, profiles: ['1.0.0'] }],
      '1.0.1',
    )
    expect(verdict.unexpected).toHaveLength(1)
  })
})
