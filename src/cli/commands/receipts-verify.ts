import { createOps } from '../../client/ops.ts'
import { type Command, exitCodes } from '../command.ts'
import { opsOptions, urlFlag } from '../remote.ts'
import { plain } from '../render.ts'
import { taskIn } from '../task-id.ts'

export const receiptsVerify: Command = {
  name: 'receipts verify',
  args: '<task-id>',
  about: 'Check the receipts of a task: signatures, order, and that none is missing',
  flags: urlFlag,
  examples: ['receipts verify <task-id>'],
  async run(input, io) {
    const { client, taskId } = await taskIn(input)
    const report = await createOps(opsOptions(client.url)).receipts(taskId)
    const { receipts, records, faults } = report
    if (input.has('json')) io.print(JSON.stringify(report))
    else {
      for (const { seq, problem } of faults) {
        io.print(`record ${seq}  ${io.paint('red', plain(problem))}`)
      }
      const verdict = faults.length === 0 ? io.paint('green', 'verified') : doubt(faults)
      io.print(`Task ${plain(taskId)}  ${receipts.length} receipts, ${records} records: ${verdict}`)
    }
    return faults.length === 0 ? exitCodes.ok : exitCodes.refused
  },
}

/** A receipt of a key that the server does not have is not a forged one. */
function doubt(faults: readonly { readonly unknownKey?: string | undefined }[]): string {
  return faults.some(({ unknownKey }) => unknownKey === undefined)
    ? 'not genuine'
    : 'not verified: give the server the former key in LULL_FORMER_RECEIPT_KEYS'
}
