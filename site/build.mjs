/**
 * The documentation as a website. Its sources are ../docs and what code says about itself; nothing is written twice.
 *
 *   npm run site                  builds site/dist; fails on a dead link
 *   npm run site -- --base /v1/   the same for another place than the root
 *   npm run site -- --dev         serves it, with reload
 *   npm run site -- --preview     serves what was built
 *
 * `pages/` is made anew each time: the pages of ../docs, and one page per command group, error code, route and example.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { bootstrap } from '../scripts/bootstrap.mjs'
import { say } from '../scripts/run.mjs'

const here = fileURLToPath(new URL('.', import.meta.url))
await bootstrap({ dist: true })
if (!existsSync(`${here}node_modules`)) await install()
const { assemble } = await import('./assemble.mjs')
const { values } = parseArgs({
  options: { dev: { type: 'boolean' }, preview: { type: 'boolean' }, base: { type: 'string' } },
})
const command = values.dev ? 'dev' : values.preview ? 'preview' : 'build'
if (command !== 'preview') await assemble(`${here}pages`)

const vitepress = `${here}node_modules/vitepress/bin/vitepress.js`
const base = values.base === undefined ? [] : ['--base', values.base]
process.exitCode = await start(process.execPath, [vitepress, command, here, ...base])
if (command === 'build' && process.exitCode === 0) {
  say(`the site is in ${here}dist; npm run site -- --preview serves it`)
}

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
