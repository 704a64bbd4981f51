/**
 * Bundles the worker of the crash suite, once per run, with the sources it imports: `node` starts one file in half the
 * time of hundreds, and more than two hundred processes are started. Always from the sources as they are now.
 */
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type Plugin } from 'vite'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The program of `test/crash/worker.ts`, bundled. */
    readonly worker: string
  }
}

const root = fileURLToPath(new URL('../..', import.meta.url))
/** Loaded from node_modules: they bring files of their own. */
const external = ['@photostructure/sqlite', 'ai', 'pg']

/** The migrations are read from where they are. */
const migrationsOfTheSources: Plugin = {
  name: 'migrations-of-the-sources',
  transform(code, id) {
    if (!id.endsWith('/migrate.ts')) return undefined
    return code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
  },
}

export async function setup(project: TestProject): Promise<() => void> {
  const outDir = mkdtempSync(join(tmpdir(), 'lull-worker-'))
  symlinkSync(join(root, 'node_modules'), join(outDir, 'node_modules'))
  await build({
    root,
    configFile: false,
    logLevel: 'error',
    plugins: [migrationsOfTheSources],
    ssr: { external, noExternal: true },
    build: {
      ssr: true,
      outDir,
      emptyOutDir: false,
      rolldownOptions: {
        // A thread is started from a file of its own, beside the one that starts it.
        input: ['test/crash/worker.ts', 'src/stores/sqlite/thread/writer-thread.ts'],
        output: { entryFileNames: '[name].js', chunkFileNames: '[name].js' },
      },
    },
  })
  writeFileSync(join(outDir, 'package.json'), '{"type": "module"}')
  project.provide('worker', join(outDir, 'worker.js'))
  return () => rmSync(outDir, { recursive: true })
}
