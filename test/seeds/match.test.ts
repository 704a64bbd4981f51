/** The proof is worth what its ruler is worth. */
import { expect, it } from 'vitest'
import { examplesOf, repaired } from './examples.ts'
import { createNames, differences } from './match.ts'

it('repairs what documents do to JSON: comments, commas too many, commas too few', () => {
  const example = `{
    "url": "http://a//b", // a comment
    "ids": ["a"] // no comma follows
    // "gone": true
    "last": {
      "x": 1,
    },
  }`
  expect(JSON.parse(repaired(example))).toEqual({
    url: 'http://a//b',
    ids: ['a'],
    last: { x: 1 },
  })
})

it('takes any list for [...], and nothing but a list', () => {
  const example = JSON.parse(repaired('{"list": [...]}'))
  expect(differences({ list: [1, {}] }, example, createNames())).toEqual([])
  expect(differences({ list: [] }, example, createNames())).toEqual([])
  expect(differences({ list: {} }, example, createNames())).toEqual(['list: is no list'])
})

it('refuses an example that does not exist', () => {
  expect(() => examplesOf('life-of-a-task.md')('Nothing of the kind')).toThrow('has no example')
})

const answer = {
  jsonrpc: '2.0',
  id: 'req-1',
  result: {
    id: 'ours-1',
    contextId: 'ours-2',
    status: { state: 'completed', timestamp: '2026-04-30T12:34:56.789Z' },
    artifacts: [],
    kind: 'task',
  },
}
const written = {
  jsonrpc: '2.0',
  id: 'req-1',
  result: {
    id: 'task-1',
    contextId: 'ctx-1',
    status: { state: 'completed' },
    artifacts: [],
    kind: 'task',
  },
}

it('finds no difference where only ids, times and allowed additions differ', () => {
  expect(differences(answer, written, createNames())).toEqual([])
})

it.each([
  [{ id: 'req-2' }, 'id: "req-2", not req-1'],
  [{ error: {} }, 'error: is not in the example'],
  [{ result: { ...answer.result, extra: 1 } }, 'result.extra: is not in the example'],
  [{ result: { ...answer.result, id: '' } }, 'result.id: is no id'],
  [{ result: { ...answer.result, id: 'ours-2' } }, 'result.contextId: ours-2 is not what ctx-1'],
  [{ result: { ...answer.result, artifacts: [{}] } }, 'result.artifacts: has 1 entries'],
  [
    { result: { ...answer.result, status: { state: 'working' } } },
    'result.status.state: "working", not completed',
  ],
])('finds the difference in %o', (change, difference) => {
  const found = differences({ ...answer, ...change }, written, createNames())
  expect(found).toHaveLength(1)
  expect(found[0]).toContain(difference)
})

it('holds an id to what it stood for before', () => {
  const names = createNames()
  differences(answer, written, names)
  const other = { ...answer, result: { ...answer.result, id: 'ours-3' } }
  expect(differences(other, written, names)).toEqual(['result.id: ours-3 is not what task-1 was'])
  expect(names.ours({ params: { taskId: 'task-1' } })).toEqual({ params: { taskId: 'ours-1' } })
})
