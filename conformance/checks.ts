/** The matchers of the manifest: each is a sentence and a test. */
import { A2A_DOMAIN, ERRORS, type ErrorName } from './errors.ts'
import type { Check, CheckContext, Outcome, Version, WireError } from './model.ts'
import { misshapen, type ShapeName, TERMINAL } from './shapes.ts'
import { at, entries, equal, fill, isObject, list, show } from './values.ts'

type Test = (outcome: Outcome, context: CheckContext) => string | undefined

export function check(says: string, test: Test): Check {
  return { says, test }
}

/** `value` may be a capture such as `$first.task.id`. */
export function is(path: string, value: unknown): Check {
  return check(`${path} is ${show(value)}`, (got, { vars }) => {
    const wanted = fill(value, vars)
    const found = at(got, path)
    return equal(found, wanted) ? undefined : `${path} is ${show(found)}, not ${show(wanted)}`
  })
}

export function isNot(path: string, value: unknown): Check {
  return check(`${path} is not ${show(value)}`, (got, { vars }) =>
    equal(at(got, path), fill(value, vars)) ? `${path} is ${show(at(got, path))}` : undefined,
  )
}

export function oneOf(path: string, values: readonly unknown[]): Check {
  return check(`${path} is one of ${values.join(', ')}`, (got) =>
    values.includes(at(got, path)) ? undefined : `${path} is ${show(at(got, path))}`,
  )
}

export function has(...paths: readonly string[]): Check {
  return check(`has ${paths.join(', ')}`, (got) => {
    const missing = paths.find((path) => at(got, path) === undefined || at(got, path) === null)
    return missing === undefined ? undefined : `no ${missing}`
  })
}

export function lacks(path: string): Check {
  return check(`has no ${path}`, (got) =>
    at(got, path) === undefined ? undefined : `${path} is ${show(at(got, path))}`,
  )
}

/** Absent, or an empty array where a binding cannot leave it out. */
export function none(path: string): Check {
  return check(`${path} is empty`, (got) =>
    list(at(got, path)).length === 0 ? undefined : `${path} is ${show(at(got, path))}`,
  )
}

export function text(path: string): Check {
  return check(`${path} is a non-empty string`, (got) =>
    typeof at(got, path) === 'string' && at(got, path) !== ''
      ? undefined
      : `${path} is ${show(at(got, path))}`,
  )
}

export function matches(path: string, pattern: RegExp): Check {
  return check(`${path} matches ${pattern}`, (got) =>
    pattern.test(String(at(got, path) ?? '')) ? undefined : `${path} is ${show(at(got, path))}`,
  )
}

export function atMost(path: string, count: number): Check {
  return check(`${path} has at most ${count}`, (got) => {
    const found = list(at(got, path)).length
    return found <= count ? undefined : `${path} has ${found}`
  })
}

export function state(...states: readonly string[]): Check {
  const wanted = states.map((name) => `TASK_STATE_${name}`)
  return oneOf('task.status.state', wanted)
}

export const terminal: Check = check('the task has ended', (got) =>
  TERMINAL.includes(String(at(got, 'task.status.state')))
    ? undefined
    : `the state is ${show(at(got, 'task.status.state'))}`,
)

export const open: Check = check('the task has not ended', (got) => {
  const found = String(at(got, 'task.status.state'))
  return at(got, 'task') !== undefined && !TERMINAL.includes(found)
    ? undefined
    : `the state is ${found}`
})

export const succeeds: Check = check('succeeds', (got) =>
  got.error === undefined && got.status < 400
    ? undefined
    : `HTTP ${got.status}, ${show(got.error ?? got.body)}`,
)

export const isTask: Check = check('answers with a task', (got) =>
  isObject(got.task) ? undefined : `no task: ${show(got.error ?? got.body)}`,
)

export const refused: Check = check('is refused', (got) =>
  got.error !== undefined || got.status >= 400
    ? undefined
    : `accepted: HTTP ${got.status}, ${show(got.body)}`,
)

/** Refused with one of these errors, as far as the binding and the version can tell them apart. */
export function fails(...names: readonly ErrorName[]): Check {
  return check(`fails with ${names.join(' or ')}`, (got, context) => {
    if (got.error === undefined && got.status < 400) {
      return `accepted: HTTP ${got.status}, ${show(got.frames?.length ? got.frames : got.body)}`
    }
    const error = got.error
    return names.some((name) => isError(name, error, got.status, context))
      ? undefined
      : `HTTP ${got.status}, ${show(error ?? got.body)}`
  })
}

function isError(
  name: ErrorName,
  error: WireError | undefined,
  status: number,
  { binding, version }: CheckContext,
): boolean {
  const row = ERRORS[name]
  if (binding === 'jsonrpc') return error?.code === row.code
  if (status < 400) return false
  // Errors of JSON-RPC itself have no reason of the protocol's: the status has to do.
  if (row.reason !== undefined && error?.reason !== undefined && version === '1.0') {
    return error.reason === row.reason
  }
  if (error?.code !== undefined && error.code < 0) return error.code === row.code
  return Object.values(row.http).includes(status)
}

/** Where the versions differ in what is right. */
export function byVersion(checks: Readonly<Record<Version, Check>>): Check {
  return check(checks['1.0'].says, (got, context) => checks[context.version].test(got, context))
}

/** The HTTP status of the profile's own table (§5.4), REST only. */
export function failsWithStatus(name: ErrorName): Check {
  return check(`answers with the HTTP status of ${name}`, (got, { profile }) => {
    const wanted = ERRORS[name].http[profile]
    return got.status === wanted ? undefined : `HTTP ${got.status}, not ${wanted}`
  })
}

/** §9.5, §11.6: an ErrorInfo with the protocol's domain and the error's reason. */
export function explains(name: ErrorName, domain: string = A2A_DOMAIN): Check {
  return check(`carries an ErrorInfo for ${name}`, (got) => {
    const info = list(got.error?.data).find((item) => /ErrorInfo$/.test(String(at(item, '@type'))))
    if (info === undefined) return `no ErrorInfo in ${show(got.error?.data)}`
    if (at(info, 'domain') !== domain) return `domain ${show(at(info, 'domain'))}`
    const reason = ERRORS[name].reason
    return at(info, 'reason') === reason ? undefined : `reason ${show(at(info, 'reason'))}`
  })
}

/** The object at `path` of the wire body (not of the neutral outcome) has the version's shape. */
export function shaped(name: ShapeName, path: string): Check {
  return check(`${path} is a well-formed ${name}`, (got, { version }) => {
    const value = path === '' ? got : at(got, path)
    return value === undefined ? `no ${path}` : misshapen(version, name, value)
  })
}

export function every(path: string, says: string, test: (item: unknown) => boolean): Check {
  return check(`every ${path} ${says}`, (got) => {
    const wrong = list(at(got, path)).find((item) => !test(item))
    return wrong === undefined ? undefined : show(wrong)
  })
}

// ── streams ──

export function frameStates(got: Outcome): readonly string[] {
  return (got.frames ?? [])
    .map(({ event }) => at(event, 'statusUpdate.status.state') ?? at(event, 'task.status.state'))
    .filter((found): found is string => typeof found === 'string')
}

export const firstIsTask: Check = check('the first frame is the task', (got) =>
  isObject(at(got.frames?.[0]?.event, 'task'))
    ? undefined
    : show(got.frames?.[0]?.data ?? got.body),
)

export const endsTerminal: Check = check('the last state on the stream is terminal', (got) => {
  const last = frameStates(got).at(-1)
  return TERMINAL.includes(String(last)) ? undefined : `the last state is ${show(last)}`
})

export const ended: Check = check('the stream ends by itself', (got) =>
  got.closed ? undefined : 'still open at the deadline',
)

export function sees(...states: readonly string[]): Check {
  return check(`shows ${states.join(', ')}`, (got) => {
    const found = frameStates(got)
    const missing = states.find((name) => !found.includes(`TASK_STATE_${name}`))
    return missing === undefined ? undefined : `no ${missing} in ${show(found)}`
  })
}

/** Waits for the first frame: the subscription is live from there on. */
export const live: Check = check('a first frame', (got) =>
  got.frames?.length ? undefined : 'no frame yet',
)

/** Every object key in the value, for naming rules; keys below `metadata`, `data` and `params` are the agent's own. */
export function keysOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(keysOf)
  return entries(value).flatMap(([key, inner]) =>
    ['metadata', 'data', 'params', 'details', 'schemes', 'scopes'].includes(key)
      ? [key]
      : [key, ...keysOf(inner)],
  )
}
