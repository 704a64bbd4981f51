/** Starts Mastra's clients on a Node that they support. Installs them once; afterwards nothing needs a network. */
import { execFile, fork } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const folder = fileURLToPath(new URL('.', import.meta.url))

export interface Mastra {
  readonly node: string
  /** What the client's call gave its application. Rejects with what the call threw. `began` runs at a stream's first frame. */
  // biome-ignore lint/suspicious/noExplicitAny: whatever a client of other people returns
  call(order: string, rest: object, began?: () => void): Promise<any>
  close(): void
}

export async function openMastra(): Promise<Mastra> {
  if (!isInstalled()) await install()
  const child = fork(`${folder}program.mjs`, { execPath: node(), execArgv: [], cwd: folder })
  const waiting = new Map<number, Waiting>()
  let orders = 0
  const ready = new Promise<string>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => {
      const gone = new Error(`Mastra's process ended with code ${code}`)
      reject(gone)
      for (const call of waiting.values()) call.reject(gone)
    })
    child.on('message', (message: { ready?: string } & Answer) => {
      if (message.ready !== undefined) return resolve(message.ready)
      const call = waiting.get(message.id)
      if (message.began) return call?.began?.()
      waiting.delete(message.id)
      if (message.failure === undefined) call?.resolve(message.answer)
      else call?.reject(new Error(message.failure))
    })
  })
  return {
    node: await ready,
    call: (order, rest, began) =>
      new Promise((resolve, reject) => {
        const id = ++orders
        waiting.set(id, { resolve, reject, began })
        child.send({ ...rest, id, order })
      }),
    close: () => void child.kill(),
  }
}

interface Waiting {
  readonly resolve: (answer: unknown) => void
  readonly reject: (why: Error) => void
  readonly began: (() => void) | undefined
}

interface Answer {
  readonly id: number
  readonly began?: boolean
  readonly answer?: unknown
  readonly failure?: string
}

/** npm writes its own record of what it installed last. */
function isInstalled(): boolean {
  const record = `${folder}node_modules/.package-lock.json`
  if (!existsSync(record)) return false
  const installed = packagesIn(record)
  return Object.entries(packagesIn(`${folder}package-lock.json`)).every(
    ([path, { version, optional }]) =>
      path === '' || (installed[path]?.version ?? (optional ? version : undefined)) === version,
  )
}

interface Entry {
  readonly version?: string
  readonly optional?: boolean
}

function packagesIn(lockfile: string): Readonly<Record<string, Entry>> {
  return JSON.parse(readFileSync(lockfile, 'utf8')).packages
}

async function install(): Promise<void> {
  const args = ['ci', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error']
  await promisify(execFile)('npm', args, { cwd: folder })
}

/** This process's own Node where it is new enough, or else the one that was installed for this platform. */
function node(): string {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > 22 || (major === 22 && minor >= 13)) return process.execPath
  const system = process.platform === 'win32' ? 'win' : process.platform
  const names = [`node-${system}-${process.arch}`, `node-bin-${system}-${process.arch}`]
  const found = names
    .flatMap((name) =>
      ['node', 'node.exe'].map((file) => `${folder}node_modules/${name}/bin/${file}`),
    )
    .find((path) => existsSync(path))
  if (found !== undefined) return found
  throw new Error(
    `Mastra's clients need Node 22.13. This is ${process.versions.node}, and no package in ` +
      `test/interop/mastra has a Node 22 for ${process.platform} ${process.arch}.`,
  )
}
