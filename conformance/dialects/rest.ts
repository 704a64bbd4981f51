/**
 * HTTP+JSON, both versions: one table of routes; 0.3 lives under /v1. Its specification describes the bodies like those of
 * JSON-RPC (`kinds`); the official SDKs and the official kit write the ProtoJSON of its proto (`proto`).
 */
import type { Operation, Version } from '../model.ts'
import { at, isObject, type Obj } from '../values.ts'
import { type Dialect, sortResult, wireError } from './dialect.ts'
import { fromV03, toV03Params, toV03Proto } from './v03-shapes.ts'

interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  /** The other arguments travel in the body of a POST and in the query of a GET. */
  readonly bare?: true
}

export const ROUTES: Readonly<Record<Operation, Route>> = {
  send: { method: 'POST', path: '/message:send' },
  stream: { method: 'POST', path: '/message:stream' },
  get: { method: 'GET', path: '/tasks/:id' },
  list: { method: 'GET', path: '/tasks' },
  cancel: { method: 'POST', path: '/tasks/:id:cancel' },
  subscribe: { method: 'POST', path: '/tasks/:id:subscribe', bare: true },
  pushCreate: { method: 'POST', path: '/tasks/:taskId/pushNotificationConfigs' },
  pushGet: { method: 'GET', path: '/tasks/:taskId/pushNotificationConfigs/:id', bare: true },
  pushList: { method: 'GET', path: '/tasks/:taskId/pushNotificationConfigs' },
  pushDelete: { method: 'DELETE', path: '/tasks/:taskId/pushNotificationConfigs/:id', bare: true },
  extendedCard: { method: 'GET', path: '/extendedAgentCard' },
  pause: { method: 'POST', path: '/tasks/:taskId:pause' },
  resume: { method: 'POST', path: '/tasks/:taskId:resume' },
  awaitResumption: { method: 'POST', path: '/tasks/:taskId:awaitResumption' },
  injectReminder: { method: 'POST', path: '/tasks/:taskId:injectReminder' },
  listReminders: { method: 'POST', path: '/tasks/:taskId:listReminders' },
  clearReminders: { method: 'POST', path: '/tasks/:taskId:clearReminders' },
}

const PARAMETER = /:(id|taskId)(?=[/:]|$)/g

export type V03Rest = 'proto' | 'kinds'

export function createRest(version: Version, v03Rest: V03Rest = 'proto'): Dialect {
  const legacy = version === '0.3'
  function bodyOf(operation: Operation, args: Obj, rest: Obj): Obj {
    if (!legacy) return rest
    return v03Rest === 'proto' ? toV03Proto(operation, args, rest) : toV03Params(operation, rest)
  }
  return {
    version,
    binding: 'rest',
    stopped: 'core',
    request: (operation, args, endpoint) => {
      const route = ROUTES[operation]
      const inPath = new Set<string>()
      const path = (legacy && operation === 'extendedCard' ? '/card' : route.path).replace(
        PARAMETER,
        (_, name: string) => {
          inPath.add(name)
          return encodeURIComponent(String(args[name]))
        },
      )
      const rest = Object.fromEntries(Object.entries(args).filter(([name]) => !inPath.has(name)))
      const query = route.method === 'GET' && !route.bare ? queryOf(rest) : ''
      return {
        method: route.method,
        url: `${endpoint.replace(/\/$/, '')}${legacy ? '/v1' : ''}${path}${query}`,
        headers: {
          accept: '*/*',
          ...(legacy ? {} : { 'a2a-version': '1.0' }),
          ...(route.method === 'POST' ? { 'content-type': 'application/json' } : {}),
        },
        ...(route.method === 'POST' ? { body: JSON.stringify(bodyOf(operation, args, rest)) } : {}),
      }
    },
    read: (operation, status, body) => {
      if (status >= 400) return { error: readError(body) }
      return sortResult(operation, legacy ? fromV03(operation, body) : body)
    },
    frame: (data) => {
      if (isObject(at(data, 'error'))) return { error: readError(data) }
      return { event: legacy ? fromV03('stream', data) : data }
    },
  }
}

function queryOf(args: Obj): string {
  const given = Object.entries(args).filter(([, value]) => value !== undefined)
  if (given.length === 0) return ''
  return `?${new URLSearchParams(Object.fromEntries(given.map(([name, value]) => [name, String(value)])))}`
}

/** 1.0 has `{error: {code, status, message, details}}`; 0.3 defines no error body, SDKs send `{code, message}`, or both. */
function readError(body: unknown) {
  const error = at(body, 'code') === undefined ? (at(body, 'error') ?? body) : body
  return wireError(
    at(error, 'code'),
    at(error, 'message'),
    at(error, 'details') ?? at(error, 'data'),
  )
}
