/**
 * Every shell command in the documents works, in the order it stands there, and says what is shown below it. A server that
 * a document kills is really killed, and started again where the document says so.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  type PostgresServer,
  startPostgres,
} from '../../src/stores/postgres/test-support/server.ts'
import { freePort } from '../../src/stores/test-support/free-port.ts'
import { type Block, type Document, documents, root } from './documents.ts'
import { npmStart, type Started } from './server.ts'

let server: Started
/** For servers that a document starts itself, by the ports that it names. */
const ownPorts = new Map<string, number>()
/** The database that the guide for several processes names. */
let database: PostgresServer
beforeAll(async () => {
  server = await npmStart()
  for (const named of ['8788', '8789']) ownPorts.set(named, await freePort())
  database = await startPostgres()
})
afterAll(async () => {
  const code = await server.stop()
  await database.remove()
  expect(code).toBe(0)
})

/** Run by the test itself, or by nobody: a test that runs all tests does not end. */
const notHere =
  /^\s*(?:[A-Z_]+=\S+ )?(npm start|npm test|node scripts\/test\.mjs|npx vitest|npm run (?:check|fix|bench|test:ai))\b/

const told = documents().filter(({ blocks }) => blocks.some(isShell))

it('finds commands in the README and the tour, which kills the server and starts it again', () => {
  const commandsIn = (page: string) =>
    told.find(({ path }) => path === page)?.blocks.filter(isShell) ?? []
  expect(commandsIn('README.md').length).toBeGreaterThan(2)
  const commands = commandsIn('docs/tour.md')
  const killed = commands.findIndex(({ text }) => text.includes('kill -9'))
  expect(killed).toBeGreaterThan(0)
  expect(commands[killed + 1]?.text.trim()).toBe('npm start')
})

it.each(told.map((document) => [document.path, document] as const))('%s', async (_, document) => {
  const outputs = await runBlocks(document)
  for (const { command, shown, output } of outputs) {
    if (shown !== undefined) expect(output, command).toMatch(patternOf(shown))
  }
})

interface Ran {
  readonly command: string
  readonly shown: string | undefined
  readonly output: string
}

/** All blocks of a document in one shell, so that what one defines the next can use. */
async function runBlocks({ path, blocks }: Document): Promise<readonly Ran[]> {
  const ran: Ran[] = []
  const shell = openShell()
  let killed = false
  for (const [index, block] of blocks.entries()) {
    if (!isShell(block)) continue
    if (killed && block.text.trim() === 'npm start') {
      await server.again()
      killed = false
      continue
    }
    const command = commandsOf(block, path === 'README.md')
    killed ||= command.includes('kill -9')
    ran.push({ command, shown: shownBelow(blocks[index + 1]), output: await shell.run(command) })
  }
  await shell.end()
  return ran
}

const MARK = '@@ the block is through @@'

interface Shell {
  /** What the commands print; it ends with the first one that fails. */
  run(commands: string): Promise<string>
  end(): Promise<void>
}

function openShell(): Shell {
  const shell = spawn('bash', ['-euo', 'pipefail'], {
    cwd: root,
    env: { ...process.env, PORT: new URL(server.url).port },
    stdio: ['pipe', 'pipe', 'inherit'],
    // A group of its own: servers that a failing block has started are ended with it.
    detached: true,
  })
  const ended = once(shell, 'exit')
  const end = ended.then(() => ({ done: true, value: '' }))
  const lines = createInterface(shell.stdout)[Symbol.asyncIterator]()
  return {
    async run(commands) {
      // As one compound command with its own input: nothing in it reads the commands that follow.
      shell.stdin.write(`{\n:\n${commands}\n} </dev/null\necho '${MARK}'\n`)
      const output: string[] = []
      for (;;) {
        // A server in the background keeps the output open when the shell has ended.
        const { value, done } = await Promise.race([lines.next(), end])
        if (done) {
          process.kill(-(shell.pid ?? 0), 'SIGKILL')
          throw new Error(`failed:\n${commands}\nafter saying:\n${output.join('\n')}`)
        }
        if (value === MARK) return output.join('\n')
        output.push(value)
      }
    },
    async end() {
      shell.stdin.end()
      expect(await ended).toEqual([0, null])
    },
  }
}

/** What npm runs for `npm run lull`. */
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: { lull: string }
}
const withoutNpm = scripts.lull.replace(/^exec /, '')

function isShell({ language }: Block): boolean {
  return language === 'sh'
}

/** @param literally with npm, which takes as long to start as the command that it runs */
function commandsOf(block: Block, literally: boolean): string {
  return (literally ? block.text : block.text.replaceAll('npm run -s lull --', withoutNpm))
    .split('\n')
    .filter((line) => !notHere.test(line))
    .join('\n')
    .replaceAll('http://127.0.0.1:8787', server.url)
    .replaceAll(/(127\.0\.0\.1:|--port )(878[89])/g, (_, before, named) => {
      return `${before}${ownPorts.get(named)}`
    })
    .replaceAll('postgres://lull:secret@127.0.0.1:5432/lull', database.url)
    .replaceAll('.lull/pictures', join(server.directory, 'pictures'))
    .replaceAll('.lull/lull.owner', join(server.data, 'lull.owner'))
}

function shownBelow(next: Block | undefined): string | undefined {
  return next?.language === 'text' ? next.text : undefined
}

/** The lines in their order, with others in between; `…` stands for anything. */
function patternOf(shown: string): RegExp {
  const lines = shown.trimEnd().split('\n')
  const patterns = lines.map((line) => line.split('…').map(escaped).join('.*'))
  return new RegExp(patterns.join('[^]*?'))
}

function escaped(piece: string): string {
  return piece.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
