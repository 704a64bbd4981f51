import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

it('takes the pictures of the documents', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lull-pictures-'))
  const script = fileURLToPath(new URL('../../scripts/screenshots.mjs', import.meta.url))
  await promisify(execFile)(process.execPath, [script, folder])
  for (const name of ['overview', 'board', 'schedules', 'waiting', 'task', 'phone']) {
    const picture = readFileSync(join(folder, `${name}.png`))
    expect(picture.subarray(1, 4).toString()).toBe('PNG')
  }
  rmSync(folder, { recursive: true })
})
