import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { createEffectsFile, effectLine } from './work.ts'

const folder = mkdtempSync(join(tmpdir(), 'lull-effects-'))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

it('appends each line to the file, which another process may share', () => {
  const path = join(folder, 'effects')
  const [one, other] = [createEffectsFile(() => path), createEffectsFile(() => path)]
  one('a')
  other('b')
  one('c')
  expect(readFileSync(path, 'utf8')).toBe('a\nb\nc\n')
})

it('writes nothing where no file is named', () => {
  expect(() => createEffectsFile(() => undefined)('a')).not.toThrow()
})

it('makes one word of any name', () => {
  const line = effectLine('begin', 't1', 'a #\n\ud800', 12, 3, 5)
  expect(line).toBe(`begin t1 a%20%23%0A%EF%BF%BD 12 3 ${process.pid} 5`)
})
