/**
 * Stands between an ACP client and its agent and writes down every line, at once, so that nothing is lost when either dies:
 *
 *   node acp-recorder.mjs <directory> <command> <args>...
 *
 * One file per connection: {"pid": …} of the agent, then {"from": "client" | "agent", "line": "…"} in the order they passed,
 * {"stderr": "…"} of the agent, and at the end {"exit": code | "SIGNAL"}.
 */
import { spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'

const [directory, command, ...args] = process.argv.slice(2)
const file = join(directory, `${Date.now()}-${process.pid}.jsonl`)
const note = (what) => appendFileSync(file, `${JSON.stringify(what)}\n`)

const agent = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] })
note({ pid: agent.pid })

relay(process.stdin, agent.stdin, (line) => note({ from: 'client', line }))
relay(agent.stdout, process.stdout, (line) => note({ from: 'agent', line }))
relay(agent.stderr, process.stderr, (line) => note({ stderr: line }))

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => agent.kill(signal))
// A side that is gone is noticed by its end; writing to it is no error of ours.
for (const pipe of [agent.stdin, process.stdout, process.stderr]) pipe.on('error', () => undefined)

agent.on('close', (code, signal) => {
  note({ exit: signal ?? code })
  process.exit(code ?? 1)
})

/** Line by line: a line is written down before the other side has seen it. */
function relay(from, to, onLine) {
  let rest = ''
  from.setEncoding('utf8')
  from.on('data', (chunk) => {
    const lines = `${rest}${chunk}`.split('\n')
    rest = lines.pop()
    for (const line of lines) {
      onLine(line)
      to.write(`${line}\n`)
    }
  })
  from.on('end', () => {
    if (rest !== '') {
      onLine(rest)
      to.write(rest)
    }
    if (to === agent.stdin) to.end()
  })
}
