/**
 * `npm run try:next`: installs Next and the packed package in a temporary directory, builds `examples/next`, and sends,
 * streams, cancels, kills and restarts. It is not part of the tests, because Next takes 400 MB.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { root } from './run.mjs'

const NEXT = '16.4.6'
const REACT = '19.2.0'
const PORT = process.env.PORT ?? '3123'
const TOKEN = 'try'

const place = mkdtempSync(join(tmpdir(), 'lull-next-'))
const { LULL_DATA: _, ...own } = process.env
const env = { ...own, NEXT_TELEMETRY_DISABLED: '1', LULL_TOKEN: TOKEN, LOG_LEVEL: 'warn' }

function run(command, ...args) {
  return execFileSync(command, args, { cwd: place, env, encoding: 'utf8', stdio: 'pipe' })
}

function check(what, holds) {
  console.log(`${holds ? 'ok    ' : 'FAILED'} ${what}`)
  if (!holds) process.exitCode = 1
}

function install() {
  cpSync(join(root, 'examples/next'), place, { recursive: true })
  const options = ['pack', root, '--ignore-scripts', '--silent', '--pack-destination', place]
  const packed = run('npm', ...options).trim()
  const dependencies = { lull: `file:${packed}`, next: NEXT, react: REACT, 'react-dom': REACT }
  const manifest = { name: 'try-next', private: true, type: 'module', dependencies }
  writeFileSync(join(place, 'package.json'), JSON.stringify(manifest))
  run('npm', 'install', '--no-audit', '--no-fund', '--silent')
}

let running

async function start() {
  const args = ['node_modules/next/dist/bin/next', 'start', '-p', PORT]
  const stdio = ['ignore', 'pipe', 'inherit']
  const child = spawn(process.execPath, args, { cwd: place, env, stdio })
  running = child
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.includes('Ready')) break
  }
  child.stdout.resume()
  return child
}

async function stop(child, signal) {
  child.kill(signal)
  await once(child, 'exit')
}

async function tryIt() {
  const { createClient } = await import(join(root, 'dist/client/index.js'))
  const url = `http://localhost:${PORT}/lull`
  const headers = { authorization: `Bearer ${TOKEN}` }
  let server = await start()
  check('a request without a token is refused', (await fetch(`${url}/x`)).status === 401)

  const client = createClient({ url, headers })
  const kinds = []
  let taskId = ''
  for await (const frame of client.stream('Ann')) {
    kinds.push(frame.kind)
    if (frame.kind === 'task') taskId = frame.task.id
    if (frame.kind === 'status' && frame.state === 'paused-by-agent') break
  }
  check('a message is streamed until the task parks', kinds.includes('status'))
  const { task } = await client.send('Bob', { returnImmediately: true })
  await client.waitFor(task.id, 'paused-by-agent')
  await client.cancel(task.id)
  check('a second task is cancelled', (await client.get(task.id)).state === 'canceled')

  await stop(server, 'SIGKILL')
  server = await start()
  check('the task is there after a kill', (await client.get(taskId)).state === 'paused-by-agent')
  const event = { specversion: '1.0', id: '1', source: 'try', type: 'greet' }
  const body = JSON.stringify(event)
  const typed = { ...headers, 'content-type': 'application/cloudevents+json' }
  await fetch(`${url}/events`, { method: 'POST', headers: typed, body })
  const done = await client.waitFor(taskId, 'completed')
  check('an event wakes it', done.status.message.parts[0].text === 'Hello, Ann!')
  await stop(server, 'SIGTERM')
  check('the server ends at SIGTERM', true)
}

try {
  install()
  run(process.execPath, 'node_modules/next/dist/bin/next', 'build')
  check('next build opens no engine', !existsSync(join(place, '.lull')))
  await tryIt()
} finally {
  running?.kill('SIGKILL')
  rmSync(place, { recursive: true, force: true })
}
