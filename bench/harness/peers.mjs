/** Installs what rows compare with, when a chosen row needs it and it is not there yet. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { say } from '../../scripts/run.mjs'

const folder = fileURLToPath(new URL('..', import.meta.url))

export async function installPeers(wanted) {
  if (wanted.every(isInstalled)) return
  say(`installing what is compared with: ${[...new Set(wanted)].join(', ')}`)
  const args = ['ci', '--no-audit', '--no-fund']
  const { status } = spawnSync('npm', args, {
    cwd: folder,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
  if (status !== 0) throw new Error(`npm ci in bench/ ended with code ${status}`)
}

function isInstalled(name) {
  const { dependencies } = read('package.json')
  const file = `node_modules/${name}/package.json`
  return existsSync(`${folder}${file}`) && read(file).version === dependencies[name]
}

function read(file) {
  return JSON.parse(readFileSync(`${folder}${file}`, 'utf8'))
}
