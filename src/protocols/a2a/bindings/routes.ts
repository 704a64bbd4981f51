/**
 * The REST routes of both versions (A2A 1.0 §11.3; 0.3 has the same routes under `/v1`). Segments are matched after
 * decoding. `{name}` matches one segment. The text after a colon in the last segment is the action.
 */
import { extensionMethodList } from '../../../wire/a2a-extension-methods.ts'
import type { Version } from '../addresses/versions.ts'
import type { Method } from '../call.ts'
import { cancelTask } from '../methods/cancel-task.ts'
import { controlMethods } from '../methods/control.ts'
import { getExtendedAgentCard } from '../methods/get-extended-agent-card.ts'
import { getTask } from '../methods/get-task.ts'
import { listTasks } from '../methods/list-tasks.ts'
import {
  createPushConfig,
  deletePushConfig,
  getPushConfig,
  listPushConfigs,
} from '../methods/push-configs.ts'
import { sendMessage } from '../methods/send-message.ts'
import { sendStreamingMessage } from '../methods/send-streaming-message.ts'
import { subscribeToTask } from '../methods/subscribe-to-task.ts'

export interface Route {
  readonly verb: string
  readonly path: readonly string[]
  readonly method: Method
}

const route = (verb: string, path: string, method: Method): Route => ({
  verb,
  path: path.split('/'),
  method,
})

const configs = 'tasks/{taskId}/pushNotificationConfigs'

const extensionRoutes = extensionMethodList.flatMap(({ name, verbs, action }) =>
  verbs.map((verb) => route(verb, `tasks/{taskId}:${action}`, controlMethods[name])),
)

function common(configId: string): readonly Route[] {
  return [
    route('POST', 'message:send', sendMessage),
    route('POST', 'message:stream', sendStreamingMessage),
    route('GET', 'tasks', listTasks),
    route('GET', 'tasks/{id}', getTask),
    route('POST', 'tasks/{id}:cancel', cancelTask),
    // Both verbs are accepted: the text of the specification says POST, the annotations of its
    // proto GET.
    route('GET', 'tasks/{id}:subscribe', subscribeToTask),
    route('POST', 'tasks/{id}:subscribe', subscribeToTask),
    route('POST', configs, createPushConfig),
    route('GET', configs, listPushConfigs),
    route('GET', `${configs}/{${configId}}`, getPushConfig),
    route('DELETE', `${configs}/{${configId}}`, deletePushConfig),
    ...extensionRoutes,
  ]
}

export const routes: Readonly<Record<Version, readonly Route[]>> = {
  '1.0': [...common('id'), route('GET', 'extendedAgentCard', getExtendedAgentCard)],
  '0.3': [...common('pushNotificationConfigId'), route('GET', 'card', getExtendedAgentCard)],
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
