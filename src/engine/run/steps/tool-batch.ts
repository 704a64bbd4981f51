/** A batch of tools: one result per tool, `done`, `failed` or `skipped`. */
import { describeError } from '../../../core/values/describe-error.ts'
import type { Json } from '../../../core/values/json.ts'
import type { Tool, ToolResult } from '../../author/agent-task.ts'
import { checkBudgets } from '../author-functions.ts'
import { recordedDuring, seqOf } from '../operation.ts'
import type { RunCore } from '../run-core.ts'
import { checkName, recordedStep, type Steps } from './steps.ts'

export type ToolBatch = (tools: readonly Tool[]) => Promise<readonly ToolResult[]>

export function createToolBatch(core: RunCore, steps: Steps): ToolBatch {
  /**
   * Runs the tools one after the other as one operation, so that `finish_step` lets the batch finish.
   * `interrupt_immediate` stops between two tools, and the rest runs after the resume.
   */
  async function batch(tools: readonly Tool[]): Promise<readonly ToolResult[]> {
    const scope = core.scope
    for (const { name } of tools) checkName(name)
    const site = core.callSite()
    const keys = tools.map(({ key, name }) =>
      key === undefined ? core.key('tool', name) : core.chosenKey('tool', key),
    )
    const { results, released } = await core.gate.duringBatch(scope, async (during) => {
      const results: ToolResult[] = []
      let { place } = site
      let seq = 0
      let skipping = false
      let isBegun = false
      for (const [index, { name, run: code }] of tools.entries()) {
        const key = keys[index] ?? ''
        const entry = core.journal.get(key)
        skipping ||= entry === undefined && isInterrupted()
        if (entry !== undefined) seq = place = entry.seq
        if (entry?.kind === 'record' && entry.record.type === 'skipped') {
          results.push({ name, status: 'skipped' })
        } else if (entry !== undefined) {
          results.push(resultOf(name, () => recordedStep<Json>(entry)?.value ?? null))
        } else if (skipping) {
          const make = () => ({ type: 'skipped', key, name }) as const
          const { record, written } = await recordedDuring(core, during, make)
          seq = seqOf(record, await written)
          results.push({ name, status: 'skipped' })
        } else {
          const here = { ...core.callSite(), place }
          // A batch that has begun is in flight. A pause waits for it, so it does not wait for the resume.
          await (isBegun ? core.admit({ key }, here, checkBudgets) : core.admit({ key }, here))
          isBegun = true
          const handed = await steps.settle({ key, name, code, scope, site: here, during })
          const done = await handed.finished
          seq = done.seq
          results.push(resultOf(name, () => (done.settle() ?? null) as Json))
        }
      }
      // The result is in the releaser before the gate is left, because a pause that waits for the batch checks for that.
      return { results, released: seq > 0 ? core.released(seq, place) : undefined }
    })
    await released
    return results
  }

  /** Whether an interrupting reminder that no turn has shown yet is pending. */
  function isInterrupted(): boolean {
    return core.task.reminders.some(
      ({ reminder: { id, mode }, emittedAtTurn }) =>
        mode === 'interrupt_immediate' &&
        emittedAtTurn === undefined &&
        !core.journal.reminders.wasRead(id),
    )
  }

  return batch
}

function resultOf(name: string, read: () => Json): ToolResult {
  try {
    return { name, status: 'done', result: read() }
  } catch (error) {
    return { name, status: 'failed', error: describeError(error).message }
  }
}
