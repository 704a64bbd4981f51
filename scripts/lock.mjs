/** One setup of a clone at a time: two `npm start` in a fresh clone must not install over each other. */
import { createHash } from 'node:crypto'
import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { root, say } from './run.mjs'

// Outside the clone, because `npm ci` empties node_modules and dist is replaced as a whole.
const path = join(
  tmpdir(),
  `lull-setup-${createHash('sha256').update(root).digest('hex').slice(0, 16)}`,
)
// No setup takes this long; an older lock was left by a process whose id has been given to another one.
const staleAfterMs = 15 * 60_000

export async function locked(work) {
  for (let told = false; !take(); told = true) {
    if (!told) say('waiting for another process that is setting up this clone')
    await sleep(200)
  }
  const release = () => rmSync(path, { force: true })
  process.once('exit', release)
  try {
    return await work()
  } finally {
    process.off('exit', release)
    release()
  }
}

/** A link is made in one stroke, so that the lock never exists without its owner's id in it. */
function take() {
  const mine = `${path}.${process.pid}`
  writeFileSync(mine, String(process.pid))
  try {
    linkSync(mine, path)
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    if (isAbandoned()) rmSync(path, { force: true })
    return false
  } finally {
    rmSync(mine)
  }
}

function isAbandoned() {
  try {
    if (Date.now() - statSync(path).mtimeMs > staleAfterMs) return true
    process.kill(Number(readFileSync(path, 'utf8')), 0)
    return false
  } catch (error) {
    return error.code === 'ESRCH'
  }
}
