import { writeFileSync } from 'node:fs'
import { createOps } from '../../client/ops-client.ts'
import { plain, printable } from '../../core/printable.ts'
import { type Command, exitCodes } from '../command.ts'
import { opsOptions, urlFlag } from '../input/server-access.ts'
import { taskIn } from '../input/task-id.ts'

export const exportTask: Command = {
  name: 'export',
  args: '<task-id>',
  about: 'Write a task with its whole log as one file that outsiders can verify',
  flags: {
    out: { value: 'file', about: 'Where to write it (default: stdout)' },
    redact: { about: 'Replace messages, artifacts, inputs and results by their hashes' },
    ...urlFlag,
  },
  examples: ['export <task-id> --out task.jsonl', 'export <task-id> --redact > task.jsonl'],
  async run(input, io) {
    const { client, taskId } = await taskIn(input)
    const ops = createOps(opsOptions(client.url))
    const { header, records } = await ops.export(taskId, input.has('redact'))
    const lines = [header, ...records].map((line) => `${printable(JSON.stringify(line))}\n`)
    const out = input.text('out')
    if (out === undefined) io.write(lines.join(''))
    else {
      writeFileSync(out, lines.join(''), { mode: 0o600 })
      if (input.has('json')) io.print(JSON.stringify({ file: out, header }))
      else io.print(`Wrote ${records.length} records of task ${plain(taskId)} to ${plain(out)}.`)
    }
    return exitCodes.ok
  },
}
