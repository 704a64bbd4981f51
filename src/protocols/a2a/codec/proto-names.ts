/**
 * A ProtoJSON reader takes the names of the proto as well: `task_id` means `taskId`. The official Python SDK writes its 0.3
 * requests over REST that way, and the official kits do. What is inside `data` and `metadata` is content, not names.
 */
import { isObject, type Params } from '../params.ts'

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

/** The same object when there is nothing to rename, which is the usual case. A camelCase name wins over its twin. */
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
