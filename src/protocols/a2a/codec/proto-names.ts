/**
 * Accepts the names of the proto beside those of JSON, as a ProtoJSON reader must: `task_id` means
 * `taskId`. The official Python SDK and the official test kits send 0.3 REST requests with these
 * names. Names inside `data` and `metadata` are content and stay unchanged.
 */
import { isObject, type Params } from '../addresses/params.ts'

const structures: ReadonlySet<string> = new Set([
  'message',
  'request',
  'parts',
  'content',
  'file',
  'configuration',
  'config',
  'taskPushNotificationConfig',
  'pushNotification',
  'pushNotificationConfig',
])

/**
 * Returns the same object if nothing has to be renamed. If both names are present, the camelCase
 * name takes precedence.
 */
export function withJsonNames(params: Params): Params {
  let renamed: Record<string, unknown> | undefined
  for (const given in params) {
    const value = params[given]
    const name = jsonName(given)
    const inner = typeof value === 'object' && structures.has(name) ? renamedIn(value) : value
    if (name === given && inner === value) continue
    renamed ??= { ...params }
    if (name === given) renamed[name] = inner
    else {
      delete renamed[given]
      if (!Object.hasOwn(params, name)) renamed[name] = inner
    }
  }
  return renamed ?? params
}

export function jsonName(name: string): string {
  if (!name.includes('_')) return name
  return name.replace(/([a-z0-9])_([a-z])/g, (_, before: string, after: string) => {
    return before + after.toUpperCase()
  })
}

function renamedIn(value: unknown): unknown {
  if (isObject(value)) return withJsonNames(value)
  if (!Array.isArray(value)) return value
  const items = value.map(renamedIn)
  return items.every((item, index) => item === value[index]) ? value : items
}
