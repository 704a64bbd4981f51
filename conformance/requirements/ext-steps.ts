/** What the cases of Lull's own extensions share. */
import { byVersion, check, fails, refused, state, succeeds } from '../checks.ts'
import type { Args, Check, Outcome, Step, Version } from '../model.ts'
import { FIRST, script, start } from '../steps.ts'
import { at, show } from '../values.ts'

export const CONTROL = 'urn:lull:a2a:task-control:1'
export const OURS = { versions: ['1.0', '0.3'], needs: ['task-control'] } as const

export const TASK = { taskId: FIRST }
export const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Works in short steps for long enough that a pause falls into it. */
export const TICKING = [
  { repeat: 500, ops: [{ step: 'tick', ms: 20 }] },
  { complete: 'done' },
] as const
export const ticking: Step = start(script(TICKING))

export const pause = (more: Args = {}, expect: readonly Check[] = [succeeds]): Step => ({
  do: 'pause',
  with: { ...TASK, ...more },
  as: 'pause',
  expect,
})
export const resume = (more: Args = {}, expect: readonly Check[] = [succeeds]): Step => ({
  do: 'resume',
  with: { ...TASK, ...more },
  as: 'resume',
  expect,
})
export const end: Step = {
  do: 'cancel',
  with: { id: FIRST },
  expect: [succeeds, state('CANCELED')],
}

/** The state as it stands on the wire, whatever it is wrapped in. */
function wireState({ body }: Outcome): unknown {
  const places = ['result.status', 'result.task.status', 'status', 'task.status']
  return places.map((place) => at(body, `${place}.state`)).find((found) => found !== undefined)
}

/** `word` itself where the lane has words for it; else that core state, and the word in the extension's metadata. */
export function showsState(
  word: string,
  core: Readonly<Record<Version, string>>,
  uri: string,
): Check {
  return check(`the task shows ${word}`, (got, { version, stopped }) => {
    const found = wireState(got)
    if (stopped === 'words') return found === word ? undefined : `the state is ${show(found)}`
    if (found !== core[version]) return `the state is ${show(found)}, not ${core[version]}`
    const beside = at(got, `task.metadata.${uri}.state`)
    return beside === word ? undefined : `the metadata says ${show(beside)}`
  })
}

const WORKING = { '1.0': 'TASK_STATE_WORKING', '0.3': 'TASK_STATE_WORKING' } as const

export const shows = (word: 'paused-by-client' | 'paused-by-agent'): Check =>
  showsState(word, WORKING, CONTROL)

/** -32004 in the RFC (0.3), TaskNotFound in 1.0. */
export const unknownTask = byVersion({ '1.0': fails('TaskNotFound'), '0.3': refused })
export const rfcUnknown = check('-32004, as the RFC has it', (got) =>
  got.error?.code === -32004 ? undefined : show(got.error),
)

/** `data` names the state in 0.3; ErrorInfo of domain lull in 1.0. */
export const explained = (reason: RegExp): Check =>
  check(`says why: ${reason}`, (got, { version, binding }) => {
    if (version === '0.3') {
      const { reason: named, state: found } = (got.error?.data ?? {}) as Record<string, unknown>
      const whole = typeof named === 'string' && typeof found === 'string'
      return binding === 'rest' || whole ? undefined : show(got.error)
    }
    const { reason: found, domain } = got.error ?? {}
    return reason.test(String(found)) && domain === 'lull' ? undefined : show(got.error)
  })
