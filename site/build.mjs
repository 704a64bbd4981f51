/**
 * The documentation as a website. Its sources are ../docs and what code says about itself; nothing is written twice.
 *
 *   npm run site                  builds site/dist; fails on a dead link
 *   npm run site -- --dev         serves it, with reload
 *
 * `pages/` is made anew each time: the pages of ../docs, and one page per command group, error code, route and example.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bootstrap } from '../scripts/bootstrap.mjs'
import { say } from '../scripts/run.mjs'

const here = fileURLToPath(new URL('.', import.meta.url))
await bootstrap({ dist: true })
if (!existsSync(`${here}node_modules`)) await install()
const { assemble } = await import('./assemble.mjs')
await assemble(`${here}pages`)

const vitepress = `${here}node_modules/vitepress/bin/vitepress.js`
const command = process.argv.includes('--dev') ? 'dev' : 'build'
process.exitCode = await start(process.execPath, [vitepress, command, here])

async function install() {
  say('installing VitePress')
  const code = await start('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'])
  if (code !== 0) throw new Error(`npm ci in site/ ended with code ${code}`)
}

async function start(program, args) {
  const child = spawn(program, args, {
    cwd: here,
    stdio: 'inherit',
    shell: process.platform === 'win32' && program === 'npm',
  })
  const [code] = await once(child, 'exit')
  return code ?? 1
}
