import { writeFileSync } from 'node:fs'
import { plain, printable } from '../../core/values/printable.ts'
import { type Command, exitCodes, printResult } from '../command.ts'
import { urlFlag } from '../input/server-access.ts'
import { readTask } from '../input/task-id.ts'

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
    const { ops, taskId } = await readTask(input)
    const { header, records } = await ops.export(taskId, input.has('redact'))
    const lines = [header, ...records].map((line) => `${printable(JSON.stringify(line))}\n`)
    const out = input.text('out')
    if (out === undefined) io.write(lines.join(''))
    else {
      writeFileSync(out, lines.join(''), { mode: 0o600 })
      const line = `Wrote ${records.length} records of task ${plain(taskId)} to ${plain(out)}.`
      return printResult(input, io, { file: out, header }, [line])
    }
    return exitCodes.ok
  },
}
