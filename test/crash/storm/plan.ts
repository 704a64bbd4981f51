/** What is done in the storm, all of it decided by the seed: which task does what, and which call is the nth. */
import type { PauseMode } from '../../../src/core/suspension.ts'
import type { ScriptOp } from '../../../src/testing/script-agent/ops.ts'
import { type Chooser, chooser } from '../../support/chooser.ts'

/** In whose words a call is made. */
export type Dialect = '0.3' | '1.0' | 'bindu'

interface Aimed {
  /** The nth call of the storm. */
  readonly n: number
  /** The task it is for. */
  readonly task: number
  readonly dialect: Dialect
  /** Whether it is made again when the server dies on it. */
  readonly persistent: boolean
}

export type StormCall =
  | (Aimed & {
      readonly kind: 'pause'
      readonly mode: PauseMode | undefined
      readonly graceMs: number | undefined
      readonly conditions: object | undefined
    })
  | (Aimed & {
      readonly kind: 'resume'
      readonly handle: 'none' | 'last known' | 'made up'
      readonly withInput: boolean
      readonly continueTranscript: boolean
    })
  | (Aimed & { readonly kind: 'message' })
  | (Aimed & { readonly kind: 'cancel' })
  | (Aimed & { readonly kind: 'event'; readonly subject: string })

export const SUBJECTS = 20
export const EVENT_TYPE = 'storm'

export interface Plan {
  script(task: number): readonly ScriptOp[]
  call(n: number): StormCall
}

export function createPlan(seed: number, tasks: number): Plan {
  return {
    script: (task) => scriptOf(chooser(seed, -1 - task)),
    call: (n) => callOf(chooser(seed, n), seed, n, tasks),
  }
}

const ROUNDS = 6

/** Work, and a stop of some kind; again and again. */
function scriptOf(choose: Chooser): readonly ScriptOp[] {
  const stops: Readonly<Record<string, () => readonly ScriptOp[]>> = {
    none: () => [{ step: 'more', ms: 20 + choose.below(100) }],
    open: () => [{ park: { reason: 'until somebody says so' } }],
    event: () => [{ park: { reason: 'for an event', conditions: { onEvent: eventName(choose) } } }],
    fresh: () => {
      const conditions = { onEvent: eventName(choose), since: 'now' } as const
      return [{ park: { reason: 'for an event yet to come', conditions } }]
    },
    moment: () => [{ park: { reason: 'a moment', conditions: soon(choose, 'resume_with_input') } }],
    ask: () => [{ ask: 'Which one?' }],
    turn: () => {
      const tools = [
        { name: 'b', ms: 20 },
        { name: 'c', ms: 20 },
      ]
      return [{ turn: [{ tool: 'a', ms: 20 }, { tools }, { say: 'turned' }] }]
    },
  }
  const kinds = Object.keys(stops)
  return Array.from({ length: ROUNDS }, (): readonly ScriptOp[] => [
    { step: 'work', ms: 10 + choose.below(120) },
    ...(stops[choose.oneOf(kinds)]?.() ?? []),
  ]).flat()
}

function eventName(choose: Chooser): string {
  return `${EVENT_TYPE}:${choose.below(SUBJECTS)}`
}

function soon<A extends string>(choose: Chooser, onTimeout: A) {
  return { timeout: { durationMinutes: 0.002 + choose.below(20) / 1_000, onTimeout } } as const
}

/** So many calls in a row go to one task, and race. */
const AT_ONCE = 4

function callOf(choose: Chooser, seed: number, n: number, tasks: number): StormCall {
  const aim: Aimed = {
    n,
    task: chooser(seed, -1_000_000 - Math.floor(n / AT_ONCE)).below(tasks),
    dialect: choose.oneOf(['0.3', '0.3', '1.0', '1.0', 'bindu']),
    persistent: choose.chance(0.5),
  }
  const kind = choose.below(100)
  if (kind < 38) {
    return {
      ...aim,
      kind: 'pause',
      mode: choose.oneOf([undefined, 'finish_step', 'interrupt_immediate', 'wait_for_completion']),
      graceMs: choose.oneOf([undefined, 0, 20, 200]),
      conditions: choose.oneOf<object | undefined>([
        undefined,
        undefined,
        undefined,
        { onEvent: eventName(choose) },
        soon(choose, choose.chance(0.05) ? 'fail' : 'resume_with_summary'),
      ]),
    }
  }
  if (kind < 70) {
    return {
      ...aim,
      kind: 'resume',
      handle: choose.oneOf(['none', 'none', 'none', 'last known', 'last known', 'made up']),
      withInput: choose.chance(0.5),
      continueTranscript: choose.chance(0.7),
    }
  }
  if (kind < 83) return { ...aim, kind: 'message' }
  if (kind < 98) return { ...aim, kind: 'event', subject: `${choose.below(SUBJECTS)}` }
  return { ...aim, kind: 'cancel' }
}
