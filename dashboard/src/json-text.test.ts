import { expect, it } from 'vitest'
import { problemOf } from './json-text.ts'

it.each(['', ' \n', '1', '"a"', ' {"a": [1, {}, [], "\\u00e9"], "b": null} ', '-0.5e+3'])(
  'finds nothing wrong with %j',
  (text) => expect(problemOf(text)).toBeUndefined(),
)

it.each([
  ['e{"status": "passed"}', 'line 1, column 1, a value is expected'],
  ['{"a": x}', 'line 1, column 7, a value is expected'],
  ['{\n  "a": 1,\n}', 'line 3, column 1, a name in double quotes is expected'],
  ['{"a" 1}', 'line 1, column 6, a colon is expected'],
  ['{"a": 1 "b": 2}', 'line 1, column 9, a comma or } is expected'],
  ['[1 2]', 'line 1, column 4, a comma or ] is expected'],
  ['[1,]', 'line 1, column 4, a value is expected'],
  ['{', 'line 1, column 2, a name in double quotes or } is expected'],
  ['[', 'line 1, column 2, a value or ] is expected'],
  ['"abc', 'line 1, column 1, a value is expected'],
  ['{} {}', 'line 1, column 4, nothing more is expected'],
  ['{a: 1}', 'line 1, column 2, a name in double quotes or } is expected'],
  ['[1}', 'line 1, column 3, a comma or ] is expected'],
  ['nul', 'line 1, column 1, a value is expected'],
])('says where %j is not JSON', (text, problem) => {
  expect(problemOf(text)).toBe(`This is not JSON. In ${problem}.`)
})
