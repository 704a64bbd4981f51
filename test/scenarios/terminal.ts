/** The program in a pseudo-terminal, and what a person sees there. */
import { fileURLToPath } from 'node:url'
import { spawn } from '@lydell/node-pty'

const built = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

const WAIT_MS = 100_000

export interface Terminal {
  /** Resolves to the screen when it matches; rejects when the program ends before. */
  shows(pattern: RegExp): Promise<string>
  /** Resolves to the screen when the pattern is nowhere on it. */
  hides(pattern: RegExp): Promise<string>
  type(keys: string): void
  screen(): string
  kill(): void
  readonly ended: Promise<number>
}

export function terminal(args: readonly string[], columns = 100, rows = 30): Terminal {
  const program = spawn(process.execPath, [built, ...args], { cols: columns, rows })
  const screen = createScreen()
  const listeners = new Set<() => void>()
  let over = false
  const look = (): void => {
    for (const listener of listeners) listener()
  }
  program.onData((text) => {
    screen.write(text)
    look()
  })
  const ended = new Promise<number>((resolve) => {
    program.onExit(({ exitCode }) => {
      over = true
      look()
      resolve(exitCode)
    })
  })
  const until = (isTrue: () => boolean, what: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const settle = (end: () => void): void => {
        clearTimeout(timer)
        listeners.delete(listener)
        end()
      }
      const without = (how: string) => (): void =>
        reject(new Error(`${how} without ${what}:\n${screen.text()}`))
      const listener = (): void => {
        if (isTrue()) settle(() => resolve(screen.text()))
        else if (over) settle(without('ended'))
      }
      // A test that hangs says what the screen showed.
      const timer = setTimeout(() => settle(without('waited')), WAIT_MS)
      listeners.add(listener)
      listener()
    })
  return {
    shows: (pattern) => until(() => pattern.test(screen.text()), `showing ${pattern}`),
    hides: (pattern) => until(() => !pattern.test(screen.text()), `hiding ${pattern}`),
    type: (keys) => program.write(keys),
    screen: screen.text,
    kill: () => program.kill('SIGKILL'),
    ended,
  }
}

/** The sequences that the program uses: colours, cursor up, erase to the end. Others make the test fail. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: sequences begin with an escape character
const sequence = /\u001b\[(\d*)([A-Za-z])|\r|\n|[^\r\n\u001b]+/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: sequences begin with an escape character
const unfinished = /\u001b(\[\d*)?$/

function createScreen() {
  const rows: string[] = ['']
  let [row, column] = [0, 0]
  let begun = ''
  const acts: Readonly<Record<string, (count: number) => void>> = {
    m: () => undefined,
    A: (count) => {
      row = Math.max(0, row - count)
    },
    J: () => {
      rows[row] = (rows[row] ?? '').slice(0, column)
      rows.length = row + 1
    },
  }
  function apply([part, count, letter]: RegExpExecArray): void {
    if (letter !== undefined) {
      const act = acts[letter]
      if (act === undefined) throw new Error(`unknown sequence ${JSON.stringify(part)}`)
      act(Number(count || 1))
    } else if (part === '\r') column = 0
    else if (part === '\n') rows[++row] ??= ''
    else {
      const line = (rows[row] ?? '').padEnd(column)
      rows[row] = line.slice(0, column) + part + line.slice(column + part.length)
      column += part.length
    }
  }
  return {
    write(text: string): void {
      const all = begun + text
      // A sequence may arrive in two pieces.
      begun = unfinished.exec(all)?.[0] ?? ''
      for (const part of all.slice(0, all.length - begun.length).matchAll(sequence)) apply(part)
    },
    text: () => rows.join('\n'),
  }
}
