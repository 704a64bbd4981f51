/**
 * Compiles the worker of the crash suite, once per run, with the sources it imports: `node` starts that in a fraction of
 * the time a loader needs, and more than two hundred processes are started. Always from the sources as they are now.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The program of `test/crash/worker.ts`, compiled. */
    readonly worker: string
  }
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const migrations = ['src/stores/sqlite/migrations', 'src/stores/postgres/migrations']

export function setup(project: TestProject): () => void {
  const out = mkdtempSync(join(tmpdir(), 'lull-worker-'))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const config = join(root, 'test/crash/tsconfig.worker.json')
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', config, '--outDir', out])
  if (status !== 0) throw new Error(`the worker could not be compiled:\n${stdout}`)
  for (const folder of migrations)
    cpSync(join(root, folder), join(out, folder), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(out, 'node_modules'))
  writeFileSync(join(out, 'package.json'), '{"type": "module"}')
  project.provide('worker', join(out, 'test/crash/worker.js'))
  return () => rmSync(out, { recursive: true })
}
