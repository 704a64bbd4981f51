import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { kindOf, transitions } from '../src/core/states.ts'
import { root } from './run.mjs'
import { file, statePicture } from './state-picture.mjs'

it(`${file} shows every transition (node scripts/state-picture.mjs writes it)`, () => {
  expect(readFileSync(join(root, file), 'utf8')).toBe(statePicture(transitions, kindOf))
})
