import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseStrictJson } from './strict-json.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('strict JSON', () => {
  it('reads what JSON.parse reads', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const text = JSON.stringify(value)
        if (text.includes('__proto__')) return
        expect(parseStrictJson(bytes(text))).toEqual({ value: JSON.parse(text) })
      }),
    )
  })

  it.each([
    ['text that is not JSON', '{"a":', 'syntax', /not valid JSON/],
    ['nothing', '', 'syntax', /not valid JSON/],
    ['a name given twice', '{"a":1,"b":{"a":2},"a":3}', 'refused', /"a" is given twice/],
    ['a name given twice in disguise', '{"a":1,"\\u0061":2}', 'refused', /given twice/],
    ['__proto__', '{"x":{"__proto__":{"admin":true}}}', 'refused', /__proto__/],
    ['__proto__ in disguise', '{"\\u005f_proto__":1}', 'refused', /__proto__/],
    [
      'more values than a process can check at once',
      `[${'0,'.repeat(100_000)}0]`,
      'refused',
      /100000 values/,
    ],
    [
      'more different names than that',
      `[${Array.from({ length: 10_001 }, (_, n) => `{"k${n}":0}`).join(',')}]`,
      'refused',
      /10000 different names/,
    ],
    ['halves of characters', `"${'\\ud800'.repeat(100_001)}"`, 'refused', /100000 halves/],
    ['other halves', `"${'\\uDFFFx'.repeat(100_001)}"`, 'refused', /100000 halves/],
    ['brackets without end', '['.repeat(200_000), 'refused', /100000 values/],
    ['a string without end', '{"a":"b', 'syntax', /not valid JSON/],
    ['a string that ends in an escape', '{"a":"b\\', 'syntax', /not valid JSON/],
    ['65 levels', `${'['.repeat(65)}${']'.repeat(65)}`, 'refused', /deeper than 64/],
  ])('refuses %s', (_what, text, fault, problem) => {
    expect(parseStrictJson(bytes(text))).toEqual({ fault, problem: expect.stringMatching(problem) })
  })

  it('takes an object exactly when its names differ, wherever it is and however they are spelled', () => {
    type Tree =
      | number
      | readonly Tree[]
      | { readonly names: readonly string[]; readonly inner: Tree }
    const name = fc.constantFrom(
      'a',
      'b',
      'c:',
      '\\u0061',
      '\\"',
      '{\\"a\\":1',
      'toString',
      '7',
      '',
    )
    const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5 },
        fc.integer(),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.record({ names: fc.array(name, { maxLength: 3 }), inner: tie('tree') }),
      ),
    }))
    const spelled = (one: Tree): string => {
      if (typeof one === 'number') return `${one}`
      if (!('names' in one)) return `[ ${one.map(spelled).join(' , ')}]`
      return `{${one.names.map((given) => `"${given}" :${spelled(one.inner)}`).join(',')}}`
    }
    const differ = (one: Tree): boolean => {
      if (typeof one === 'number') return true
      if (!('names' in one)) return one.every(differ)
      const names = one.names.map((given) => JSON.parse(`"${given}"`))
      return new Set(names).size === names.length && (names.length === 0 || differ(one.inner))
    }
    fc.assert(
      fc.property(tree, (one) => {
        const text = spelled(one)
        const parsed = parseStrictJson(bytes(text))
        if (differ(one)) expect(parsed).toEqual({ value: JSON.parse(text) })
        else expect(parsed.problem).toContain('is given twice')
      }),
      { numRuns: 500 },
    )
  })

  it('refuses bytes that are not UTF-8', () => {
    const broken = new Uint8Array([0x22, 0xff, 0x22])
    expect(parseStrictJson(broken)).toEqual({
      fault: 'syntax',
      problem: 'The body is not valid UTF-8',
    })
  })

  it('takes 64 levels, strings that look like structure, and the same name in different objects', () => {
    const texts = [
      `${'['.repeat(64)}${']'.repeat(64)}`,
      JSON.stringify({ a: '{"a":1,"a":[[[[' }),
      JSON.stringify([{ a: 1 }, { a: 2 }, { b: { a: '\\"' } }]),
    ]
    for (const text of texts) expect(parseStrictJson(text)).toEqual({ value: JSON.parse(text) })
  })

  it('takes escaped pairs without a limit, and some halves', () => {
    const texts = [`"${'\\ud83d\\uDE00'.repeat(100_001)}"`, '"a\\ud800\\udfff\\udfffb\\ud800"']
    for (const text of texts) expect(parseStrictJson(text)).toEqual({ value: JSON.parse(text) })
  })

  it('takes a long table, because its rows share their names', () => {
    const rows = Array.from({ length: 4_500 }, (_, n) => ({ a: n, b: n, c: n, d: n, e: n, f: n }))
    expect(parseStrictJson(JSON.stringify(rows))).toEqual({ value: rows })
  })

  it('is not slow on an object with very many names', () => {
    const many = Object.fromEntries(Array.from({ length: 9_000 }, (_, n) => [`k${n}`, n]))
    const text = JSON.stringify(many)
    expect(parseStrictJson(text).problem).toBeUndefined()
    expect(parseStrictJson(`${text.slice(0, -1)},"k7":1}`)).toMatchObject({ fault: 'refused' })
  })
})
