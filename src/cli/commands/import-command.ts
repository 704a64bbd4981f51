import { plain } from '../../core/values/printable.ts'
import { type Command, exitCodes } from '../command.ts'
import { readOnlyWord } from '../input/read-input.ts'
import { opsOf, urlFlag } from '../input/server-access.ts'

export const importTask: Command = {
  name: 'import',
  args: '<file>',
  about: 'Take over an exported task; an open one is held until you lift the hold',
  flags: {
    keys: { value: 'file or url', about: 'Public keys the file must be signed with' },
    start: { about: 'Let it go on at once: nothing else runs it any more' },
    ...urlFlag,
  },
  examples: ['import task.jsonl', 'import task.jsonl --start'],
  async run(input, io) {
    const file = readOnlyWord(input, 'give one exported file')
    const { checkFile, readExport } = await import('../input/check-file.ts')
    const { report } = await checkFile(file, input.text('keys'))
    if (input.has('keys') && !report.verified) {
      io.warn(
        `${plain(file)} is not verified by these keys: ${plain(report.faults[0]?.problem ?? '')}`,
      )
      return exitCodes.refused
    }
    const { header, records } = readExport(file)
    const done = await opsOf(input).import({ header, records }, input.has('start'))
    if (input.has('json')) {
      io.print(JSON.stringify(done))
      return exitCodes.ok
    }
    io.print(`Imported task ${plain(done.taskId)} with ${done.records} records: ${done.state}.`)
    if (done.holdId !== undefined) {
      io.print('It is held, because the server that exported it may still run it. To let it go on:')
      io.print(`  ${io.self} hold lift ${plain(done.holdId)}`)
    }
    for (const child of done.missingChildren) {
      io.warn(`Its child ${plain(child)} is not here; import that too, or the task waits for it.`)
    }
    return exitCodes.ok
  },
}
