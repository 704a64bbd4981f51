/**
 * Every method of A2A with its names in JSON-RPC and its routes in REST, one row each, and the matching of routes.
 */
import { extensionMethodList } from '../../../wire/a2a-extension-methods.ts'
import type { Version } from '../addresses/versions.ts'
import type { Method } from '../call.ts'
import { getExtendedAgentCard } from '../cards/card-response.ts'
import { controlMethods } from './control.ts'
import {
  createPushConfig,
  deletePushConfig,
  getPushConfig,
  listPushConfigs,
} from './push-configs.ts'
import { sendMessage, sendStreamingMessage } from './send-message.ts'
import { cancelTask, getTask, listTasks, subscribeToTask } from './tasks.ts'

type PerVersion<T> = Readonly<Record<Version, T>>
/**
 * Verb and path. Segments are matched after decoding, `{name}` matches one segment, and the text after a colon in the
 * last segment is the action. 0.3 has the same routes under `/v1`.
 */
type Routes = readonly `${string} ${string}`[]
type Row = readonly [
  method: Method,
  names: PerVersion<readonly string[]>,
  routes: Routes | PerVersion<Routes>,
]

const configs = 'tasks/{taskId}/pushNotificationConfigs'
const oneConfig = (verb: string): PerVersion<Routes> => ({
  '1.0': [`${verb} ${configs}/{id}`],
  '0.3': [`${verb} ${configs}/{pushNotificationConfigId}`],
})
const named = (v1: string, ...v03: readonly string[]): PerVersion<readonly string[]> => ({
  '1.0': [v1],
  '0.3': v03,
})

const rows: readonly Row[] = [
  // `tasks/send` and `tasks/sendSubscribe` are the names of 0.1, which the RFCs still use.
  [sendMessage, named('SendMessage', 'message/send', 'tasks/send'), ['POST message:send']],
  [
    sendStreamingMessage,
    named('SendStreamingMessage', 'message/stream', 'tasks/sendSubscribe'),
    ['POST message:stream'],
  ],
  [listTasks, named('ListTasks'), ['GET tasks']],
  [getTask, named('GetTask', 'tasks/get'), ['GET tasks/{id}']],
  [cancelTask, named('CancelTask', 'tasks/cancel'), ['POST tasks/{id}:cancel']],
  // The text of the specification says POST, the annotations of its proto GET.
  [
    subscribeToTask,
    named('SubscribeToTask', 'tasks/resubscribe'),
    ['GET tasks/{id}:subscribe', 'POST tasks/{id}:subscribe'],
  ],
  [
    createPushConfig,
    named('CreateTaskPushNotificationConfig', 'tasks/pushNotificationConfig/set'),
    [`POST ${configs}`],
  ],
  [
    listPushConfigs,
    named('ListTaskPushNotificationConfigs', 'tasks/pushNotificationConfig/list'),
    [`GET ${configs}`],
  ],
  [
    getPushConfig,
    named('GetTaskPushNotificationConfig', 'tasks/pushNotificationConfig/get'),
    oneConfig('GET'),
  ],
  [
    deletePushConfig,
    named('DeleteTaskPushNotificationConfig', 'tasks/pushNotificationConfig/delete'),
    oneConfig('DELETE'),
  ],
  ...extensionMethodList.map(
    ({ name, method, verbs, action }): Row => [
      controlMethods[name],
      named(method, method),
      verbs.map((verb) => `${verb} tasks/{taskId}:${action}` as const),
    ],
  ),
  [
    getExtendedAgentCard,
    named('GetExtendedAgentCard', 'agent/getAuthenticatedExtendedCard'),
    { '1.0': ['GET extendedAgentCard'], '0.3': ['GET card'] },
  ],
]

/** The methods of each version, by their names in JSON-RPC. */
export const methods: PerVersion<ReadonlyMap<string, Method>> = {
  '1.0': methodsNamed('1.0'),
  '0.3': methodsNamed('0.3'),
}

function methodsNamed(version: Version): ReadonlyMap<string, Method> {
  return new Map(
    rows.flatMap(([method, names]) =>
      names[version].map((name): readonly [string, Method] => [name, method]),
    ),
  )
}

interface Route {
  readonly verb: string
  readonly path: readonly string[]
  readonly method: Method
}

export const routes: PerVersion<readonly Route[]> = {
  '1.0': routesOf('1.0'),
  '0.3': routesOf('0.3'),
}

function routesOf(version: Version): readonly Route[] {
  return rows.flatMap(([method, , given]) =>
    ('1.0' in given ? given[version] : given).map((route) => {
      const [verb = '', path = ''] = route.split(' ')
      return { verb, path: path.split('/'), method }
    }),
  )
}

export type Matched =
  | { readonly method: Method; readonly found: Readonly<Record<string, string>> }
  /** The verbs that the address allows. Empty for an action that A2A does not have. */
  | { readonly allow: readonly string[] }

export function matchRoute(
  version: Version,
  verb: string,
  segments: readonly string[],
): Matched | undefined {
  const allow: string[] = []
  for (const { path, verb: wanted, method } of routes[version]) {
    const found = capture(path, segments)
    if (found === undefined) continue
    if (wanted === verb) return { method, found }
    allow.push(wanted)
  }
  return allow.length > 0 || isUnknownAction(segments) ? { allow } : undefined
}

/**
 * Whether the path is an action that A2A does not have, such as `tasks/{id}:nope`. It gets an error
 * of A2A and not of HTTP.
 */
function isUnknownAction(segments: readonly string[]): boolean {
  const [first = '', second = ''] = segments
  if (segments.length === 1) return first.startsWith('message:')
  return segments.length === 2 && first === 'tasks' && ACTION.test(second)
}

function capture(
  path: readonly string[],
  segments: readonly string[],
): Readonly<Record<string, string>> | undefined {
  if (path.length !== segments.length) return undefined
  const found: Record<string, string> = {}
  for (const [index, want] of path.entries()) {
    const segment = segments[index] ?? ''
    if (!want.startsWith('{')) {
      if (want !== segment) return undefined
      continue
    }
    const end = want.indexOf('}')
    const action = want.slice(end + 1)
    const value = action === '' ? segment : segment.slice(0, -action.length)
    if (!segment.endsWith(action) || value === '') return undefined
    // `{id}` does not match an id with an unknown action.
    if (action === '' && index === 1 && path.length === 2 && ACTION.test(segment)) return undefined
    found[want.slice(1, end)] = value
  }
  return found
}

const ACTION = /:[a-zA-Z]+$/
