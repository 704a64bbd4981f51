/** What the cases of Lull's own extensions share. */
import { byVersion, check, fails, refused, state, succeeds } from '../checks.ts'
import type { Args, Check, Step } from '../model.ts'
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

/** The RFC's word in 0.3, the core state and the metadata in 1.0. */
export function shows(word: 'paused-by-client' | 'paused-by-agent', path = 'task'): Check {
  return check(`${path} shows ${word}`, (got, { version, binding }) => {
    const task = at(got, path)
    const found =
      version === '1.0'
        ? at(task, `metadata.${CONTROL}.state`)
        : at(got, 'body.result.status.state')
    const core = at(task, 'status.state')
    if (version === '1.0' && core !== 'TASK_STATE_WORKING') return `core state ${show(core)}`
    const spelled = word.replaceAll('-', '_').toUpperCase()
    // Over REST the 0.3 wire may have the names of a closed enum, with the truth beside them.
    if (version === '0.3' && core === `TASK_STATE_${spelled}`) return undefined
    const beside = at(task, `metadata.${CONTROL}.state`)
    if (version === '0.3' && binding === 'rest' && beside === word) return undefined
    return found === word ? undefined : `${show(found)} in ${show(task)}`
  })
}

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
