import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { withoutLongLines } from './stdio.ts'

const LIMIT = 100

async function read(chunks: readonly string[]) {
  const input = new PassThrough()
  const output = new PassThrough()
  let refused = 0
  const lines = text(withoutLongLines(input, output, () => refused++, LIMIT))
  for (const chunk of chunks) input.write(chunk)
  input.end()
  const passed = await lines
  output.end()
  return { passed, refused, answers: await text(output) }
}

const long = (members: string): string => `{${members}"params":"${'x'.repeat(LIMIT)}"}\n`

it('answers a line that is too long with an error, and goes on with the next one', async () => {
  const { passed, answers, refused } = await read([
    '{"id":1}\n',
    long('"jsonrpc":"2.0","id":7,'),
    '{"id":2}\n{"id":3}',
  ])
  expect(passed).toBe('{"id":1}\n{"id":2}\n{"id":3}')
  expect(refused).toBe(1)
  expect(JSON.parse(answers)).toEqual({
    jsonrpc: '2.0',
    id: 7,
    error: { code: -32600, message: 'The message is longer than 100 bytes' },
  })
})

it.each([
  ['"method":"session/prompt","id":"a-1",', 'a-1'],
  ['"method":"x","params":{"id":5},"id":6,', null],
  ['"id":1e999,', null],
])('finds the id in %s', async (members, id) => {
  const { answers } = await read([...long(members)])
  expect(JSON.parse(answers)).toMatchObject({ id })
})

it('passes a line of exactly the limit, however it is cut into pieces', async () => {
  const line = `${'y'.repeat(LIMIT)}\n`
  expect(await read([...line])).toEqual({ passed: line, refused: 0, answers: '' })
  expect(await read([line, line])).toEqual({ passed: line + line, refused: 0, answers: '' })
})
