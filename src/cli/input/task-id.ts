/** Short forms of task ids: a unique prefix or suffix of an id, or `@last` for the newest task. */
import type { Client } from '../../client/client.ts'
import type { Ops } from '../../client/ops-client.ts'
import { type Input, UsageError } from '../command.ts'
import { readOnlyWord } from './read-input.ts'
import { clientOf, opsOf } from './server-access.ts'

/** A shorter part of an id could match by accident. */
const SHORTEST = 4
const WHOLE_ID = 36
const PAGE = 100
/** How many pages of tasks are searched. Older tasks are found by their whole id only. */
const PAGES = 10

export interface NamedTask {
  readonly client: Client
  readonly ops: Ops
  readonly taskId: string
}

/** The task that the only argument of a command names, and clients for its server. @throws UsageError */
export async function readTask(input: Input): Promise<NamedTask> {
  const text = readOnlyWord(input, 'give one task id')
  const client = clientOf(input)
  return { client, ops: opsOf(input), taskId: await resolveTaskId(client, text) }
}

/** A text that is part of no known id is returned unchanged, because other servers have other ids. @throws UsageError */
export function resolveTaskId(client: Client, text: string): Promise<string> {
  return resolveIdAmong(readRecentIds(client), text)
}

/** @param ids the last changed task first; only the first 1,000 are searched @throws UsageError */
export async function resolveIdAmong(ids: AsyncIterable<string>, text: string): Promise<string> {
  if (text === '@last') return findNewest(ids)
  if (text.length >= WHOLE_ID || !/^[0-9a-f-]+$/i.test(text)) return text
  if (text.length < SHORTEST) {
    throw new UsageError(`"${text}" is too short; give at least ${SHORTEST} characters of an id`)
  }
  const matches = new Set<string>()
  for await (const id of takeFirst(ids, PAGES * PAGE)) {
    if (id.startsWith(text) || id.endsWith(text)) matches.add(id)
    if (matches.size > 1) throw ambiguous(text, [...matches])
  }
  return [...matches][0] ?? text
}

/** Ids grow with time, so the newest task has the greatest id. The order of a list does not say which task is newest. */
async function findNewest(ids: AsyncIterable<string>): Promise<string> {
  let last: string | undefined
  for await (const id of takeFirst(ids, PAGE)) if (last === undefined || id > last) last = id
  if (last === undefined) throw new UsageError('there are no tasks yet, so there is no @last')
  return last
}

async function* takeFirst(ids: AsyncIterable<string>, most: number): AsyncGenerator<string, void> {
  let left = most
  for await (const id of ids) {
    yield id
    if (--left === 0) return
  }
}

async function* readRecentIds(client: Client): AsyncGenerator<string, void> {
  let pageToken: string | undefined
  while (pageToken !== '') {
    const page = await client.list({ pageSize: PAGE, historyLength: 0, pageToken })
    for (const { id } of page.tasks) yield id
    pageToken = page.nextPageToken
  }
}

function ambiguous(text: string, [first, second]: readonly string[]): UsageError {
  return new UsageError(`"${text}" is part of more than one id, such as ${first} and ${second}`)
}
