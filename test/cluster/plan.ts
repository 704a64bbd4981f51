/** What the tasks do, decided by the seed. */
import type { ScriptOp } from '../../src/testing/script-agent/ops.ts'
import type { Chooser } from '../support/chooser.ts'

const ROUNDS = 3
export const EVENT_TYPE = 'soak'

/** Steps, and a stop of some kind after each. The event that a task waits for has the task's number. */
export function scriptOf(choose: Chooser, task: number): readonly ScriptOp[] {
  const rounds = Array.from({ length: ROUNDS }, (_, round): readonly ScriptOp[] => [
    { step: 'work', ms: 5 + choose.below(80) },
    ...stops[choose.oneOf(Object.keys(stops) as (keyof typeof stops)[])](choose, task, round),
  ])
  return [...rounds.flat(), { turn: [{ tool: 'last', ms: 5 }] }, { complete: `done ${task}` }]
}

type Stop = (choose: Chooser, task: number, round: number) => readonly ScriptOp[]

const stops = {
  none: (choose) => [{ step: 'more', ms: 5 + choose.below(60) }],
  long: () => [{ step: 'long', ms: 400 }],
  open: () => [{ park: { reason: 'until somebody says so' } }],
  event: (_choose, task, round) => [
    {
      park: { reason: 'for an event', conditions: { onEvent: `${EVENT_TYPE}:${task}-${round}` } },
    },
  ],
  moment: (choose) => [
    {
      park: {
        reason: 'a moment',
        conditions: {
          timeout: {
            durationMinutes: (500 + choose.below(1_500)) / 60_000,
            onTimeout: 'resume_with_summary',
          },
        },
      },
    },
  ],
  ask: () => [{ ask: 'Which one?' }],
  child: (choose) => [
    {
      delegate: {
        script: [
          { step: 'in child', ms: choose.below(100) },
          { step: 'in child', ms: 5 },
        ],
      },
      wait: true,
    },
  ],
  turn: () => [
    { turn: [{ tool: 'a', ms: 20 }, { tools: [{ name: 'b', ms: 20 }, { name: 'c' }] }] },
  ],
} satisfies Readonly<Record<string, Stop>>
