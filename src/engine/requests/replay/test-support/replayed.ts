import type { LogRecord } from '../../../../core/records.ts'
import { createCountingIds } from '../../../../testing/counting-ids.ts'
import { createManualClock } from '../../../../testing/manual-clock.ts'
import type { Agent } from '../../../author/agent.ts'
import type { CodeReplay, CodeReplayDeps } from '../code-replay.ts'
import { replayCode } from '../replay-code.ts'

/** Moves a clock of its own until the work is done. */
export async function withMovingClock<T>(work: (deps: CodeReplayDeps) => Promise<T>): Promise<T> {
  const clock = createManualClock()
  const deps = { clock, ids: createCountingIds(), log: () => undefined }
  let isOver = false
  const working = work(deps).finally(() => {
    isOver = true
  })
  while (!isOver) {
    for (let turn = 0; turn < 50; turn++) await new Promise((next) => setImmediate(next))
    clock.advance(1_000)
  }
  return working
}

export function replayed(agent: Agent, log: readonly LogRecord[]): Promise<CodeReplay> {
  return withMovingClock((deps) => replayCode(agent, log, deps))
}
