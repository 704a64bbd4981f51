/** Where measurements keep their files: beside the clone, because a temporary directory may be in memory. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const cache = fileURLToPath(new URL('../.cache/', import.meta.url))

/** A directory for as long as the work takes. */
export async function inScratch(work) {
  mkdirSync(cache, { recursive: true })
  const path = mkdtempSync(join(cache, 'scratch-'))
  try {
    return await work(path)
  } finally {
    rmSync(path, { recursive: true, force: true })
  }
}
