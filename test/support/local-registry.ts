/** A registry for npm that has what this clone has installed, so that a test can install packages without a network. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

interface Locked {
  readonly version: string
  readonly optional?: boolean
}

export interface LocalRegistry {
  readonly url: string
  close(): Promise<void>
}

export async function openRegistry(): Promise<LocalRegistry> {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '/').slice(1)
    if (path.startsWith('-/')) return void sendPacked(path.slice('-/'.length), response)
    const about = describePackage(path, `http://${request.headers.host}`)
    response.writeHead(about === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(about ?? { error: 'not found' }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  readonly packages: Readonly<Record<string, Locked>>
}

/** What the registry answers for a name. Optional packages of other platforms are named, and cannot be fetched. */
function describePackage(name: string, url: string): object | undefined {
  const versions = Object.entries(packages)
    .filter(([path]) => path.split('node_modules/').at(-1) === name)
    .map(([path, locked]) => {
      const file = join(root, path, 'package.json')
      const manifest = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : locked
      return { ...manifest, name, dist: { tarball: `${url}/-/${path}` } }
    })
  const [first] = versions
  if (first === undefined) return undefined
  const byVersion = Object.fromEntries(versions.map((one) => [one.version, one]))
  return { name, 'dist-tags': { latest: first.version }, versions: byVersion }
}

async function sendPacked(path: string, response: ServerResponse): Promise<void> {
  const folder = join(root, path)
  if (!existsSync(folder)) {
    return void response.writeHead(404).end(`${path} is not installed in this clone`)
  }
  const args = ['-cf', '-', '--exclude', 'node_modules', '-C', dirname(folder), basename(folder)]
  response.writeHead(200, { 'content-type': 'application/octet-stream' })
  spawn('tar', args, { stdio: ['ignore', 'pipe', 'inherit'] }).stdout.pipe(response)
}
