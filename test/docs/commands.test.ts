/** Every shell command in the documents works, in the order it stands there, and says what is shown below it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Block, type Document, documents, root } from './documents.ts'
import { npmStart, type Started } from './server.ts'

let server: Started
beforeAll(async () => {
  server = await npmStart()
})
afterAll(async () => {
  expect(await server.stop()).toBe(0)
})

/** Run by the test itself, or by nobody: a test that runs all tests does not end. */
const notHere =
  /^\s*(npm start|npm test|node scripts\/test\.mjs|npx vitest|npm run fix|npm run bench)\b/

const told = documents().filter(({ blocks }) => blocks.some(isShell))

it('finds commands in the README', () => {
  expect(told.map(({ path }) => path)).toContain('README.md')
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

const MARK = '@@ next block @@'

/** All blocks of a document in one shell, so that what one defines the next can use. */
async function runBlocks({ blocks }: Document): Promise<readonly Ran[]> {
  const shells = blocks.flatMap((block, index) =>
    isShell(block) ? [{ command: commandsOf(block), shown: shownBelow(blocks[index + 1]) }] : [],
  )
  const script = shells.map(({ command }) => `${command}\necho '${MARK}'`).join('\n')
  const shell = spawn('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: root,
    env: { ...process.env, PORT: new URL(server.url).port },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [output, [code]] = await Promise.all([text(shell.stdout), once(shell, 'exit')])
  const pieces = output.split(MARK)
  expect(code, `after ${pieces.length - 1} blocks; the last said:\n${pieces.at(-1)}`).toBe(0)
  return shells.map((shell, index) => ({ ...shell, output: pieces[index] ?? '' }))
}

function isShell({ language }: Block): boolean {
  return language === 'sh'
}

function commandsOf(block: Block): string {
  return block.text
    .split('\n')
    .filter((line) => !notHere.test(line))
    .join('\n')
    .replaceAll('http://127.0.0.1:8787', server.url)
    .replaceAll('.lull/pictures', join(server.directory, 'pictures'))
}

function shownBelow(next: Block | undefined): string | undefined {
  return next?.language === 'text' ? next.text : undefined
}

/** The lines in their order, with others in between; `…` stands for anything. */
function patternOf(shown: string): RegExp {
  const lines = shown.trimEnd().split('\n')
  const patterns = lines.map((line) => line.split('…').map(literally).join('.*'))
  return new RegExp(patterns.join('[^]*?'))
}

function literally(piece: string): string {
  return piece.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
