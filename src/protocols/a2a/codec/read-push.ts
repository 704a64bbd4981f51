/** Reads push notification configs of both versions. */
import type { PushTarget } from '../../../core/push.ts'
import { invalid, isObject, optionalText, type Params } from '../addresses/params.ts'

/**
 * Reads one config. A missing `id` becomes the empty string; the webhook then gets an id when it is
 * created.
 * @param path for errors
 */
export function readTarget(value: unknown, path: string): PushTarget {
  if (!isObject(value)) throw invalid(path, 'must be an object')
  const { url } = value
  if (typeof url !== 'string' || url === '') throw invalid(under(path, 'url'), 'is required')
  const token = line(value, 'token', path)
  const authentication = authenticationOf(value['authentication'], under(path, 'authentication'))
  return {
    id: line(value, 'id', path) ?? '',
    url: urlOf(url, under(path, 'url')),
    ...(token === undefined || token === '' ? {} : { token }),
    ...(authentication === undefined ? {} : { authentication }),
  }
}

function urlOf(given: string, path: string): string {
  if (given.length > LONGEST_URL)
    throw invalid(path, `must have a length of at most ${LONGEST_URL}`)
  const url = URL.canParse(given) ? new URL(given) : undefined
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw invalid(path, 'must be an http or https address')
  }
  if (url.username !== '' || url.password !== '') {
    throw invalid(path, 'must not hold credentials: use authentication')
  }
  return given
}

/** Reads the authentication. 1.0 has one scheme; 0.3 has a list, of which the first is used. */
function authenticationOf(value: unknown, path: string): PushTarget['authentication'] {
  if (value === undefined || value === null) return undefined
  if (!isObject(value)) throw invalid(path, 'must be an object')
  // An empty object means absent.
  if (Object.keys(value).length === 0) return undefined
  const listed = Array.isArray(value['schemes']) ? value['schemes'][0] : undefined
  const scheme = value['scheme'] ?? listed
  if (typeof scheme !== 'string' || !TOKEN.test(scheme)) {
    throw invalid(under(path, 'scheme'), 'must name an HTTP authentication scheme')
  }
  const credentials = line(value, 'credentials', path)
  return { scheme, ...(credentials === undefined ? {} : { credentials }) }
}

const TOKEN = /^[\w!#$%&'*+.^`|~-]{1,64}$/
const FIELD = /^[\x20-\x7e]{0,4096}$/
/** The longest accepted address of a webhook. */
const LONGEST_URL = 4_096

/** Reads a text that is sent in a header or an address, and so must be a single line. */
function line(value: Params, name: string, path: string): string | undefined {
  const given = value[name]
  if (given === undefined || given === null) return undefined
  if (typeof given === 'string' && FIELD.test(given)) return given
  throw invalid(under(path, name), 'must be one line of at most 4096 printable characters')
}

function under(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

export function taskIdOf(params: Params): string {
  const taskId = optionalText(params, 'taskId')
  if (taskId === undefined || taskId === '') throw invalid('taskId', 'is required')
  return taskId
}
