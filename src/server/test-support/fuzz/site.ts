/** An engine on SQLite behind every door, with a task of another tenant that no answer may show. For tests only. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isLullError } from '../../../core/errors.ts'
import { isTerminal } from '../../../core/states.ts'
import type { Caller } from '../../../engine/caller.ts'
import { message, running } from '../../../engine/test-support/engine-harness.ts'
import { createA2A, ownTaskScopes } from '../../../protocols/a2a/index.ts'
import { type Editor, EditorError } from '../../../protocols/acp/test-support/editor.ts'
import {
  anyone,
  type Harness,
  newSession,
  openHarness,
} from '../../../protocols/acp/test-support/harness.ts'
import { createSqliteStore } from '../../../stores/sqlite/sqlite-store.ts'
import { owner } from '../../auth/identity.ts'
import { createApp } from '../../http/app.ts'
import { createIds } from '../../system/ids.ts'
import type { Request as Fuzzed } from './doors.ts'
import { exampleFile } from './example-file.ts'

/** In the message of the other tenant's task. */
const SECRET = 'kumquat-7391'
const vera: Caller = { tenant: 'victim', principal: 'vera' }
const operator: Caller = { ...anyone, operator: true }
const URL = 'http://lull.test'
/** An answer takes milliseconds. */
const LONGEST_MS = 30_000

const agents = [
  running(
    async (task) => {
      if (task.text === 'ask') await task.ask('who?')
      if (task.text === 'park') await task.park({ reason: 'told to', onEvent: 'ci.done' })
      return task.text
    },
    { name: 'parent' },
  ),
]

export interface Site {
  /** How many requests each door has accepted. */
  readonly accepted: Readonly<Record<Fuzzed['door'], number>>
  /** @returns what is wrong with the answer, if anything is */
  send(request: Fuzzed): Promise<string | undefined>
  /** Lists, counts and searches at every door. @returns those that do not answer, or show the other tenant's task */
  look(): Promise<readonly string[]>
  /** Removes every hold, budget and rule. */
  free(): Promise<void>
  /** Cancels every task. @returns those that do not end */
  stranded(): Promise<readonly string[]>
  /** The same directory in a new process. */
  reopen(): Promise<Site>
  close(): Promise<void>
}

export async function openSite(data = mkdtempSync(join(tmpdir(), 'lull-fuzz-'))): Promise<Site> {
  const store = await createSqliteStore({ path: data, durability: 'relaxed' })
  const harness = await openHarness({ agents, store })
  const { engine, clock } = harness
  const ids = createIds(clock.now)
  const log = (): void => undefined
  const a2a = createA2A({ engine, store, clock, ids, log, publicUrl: URL })
  const identity = { ...owner, anyTenant: false }
  const app = createApp({ engine, log, url: URL, identityOf: () => identity })
  const editor = await harness.editor()
  const known = await someTasks(harness, editor)
  const accepted = { engine: 0, ops: 0, a2a: 0, acp: 0, import: 0 }
  let sent = 0

  const ops = async (method: string, path: string, body?: string): Promise<Answer> => {
    const response = await app.request(path, { method, ...(body === undefined ? {} : { body }) })
    const { ok, status } = response
    return { isBroken: status >= 500, isAccepted: ok, text: await textOf(response) }
  }
  const rpc = async (version: string, method: string, params: unknown): Promise<Answer> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const headers = { 'content-type': 'application/json', 'a2a-version': version }
    const request = new Request(URL, { method: 'POST', body, headers })
    const response = await a2a.fetch(request, { caller: anyone, may: ownTaskScopes })
    const text = response === undefined ? '' : await textOf(response)
    const isBroken = (response?.status ?? 500) >= 500 || text.includes('"code":-32603')
    return { isBroken, isAccepted: !text.includes('"error":{'), text }
  }
  const acp = async (method: string, params: unknown): Promise<Answer> => {
    try {
      return {
        isBroken: false,
        isAccepted: true,
        text: JSON.stringify(await editor.request(method, params)),
      }
    } catch (error) {
      if (!(error instanceof EditorError)) throw error
      const { code, data, message: text } = error
      // A code of JSON-RPC for errors that the engine knows, too. Those have a reason.
      return {
        isBroken: code === -32603 && data?.reason === undefined,
        isAccepted: false,
        text: `${code} ${text} ${JSON.stringify(data)}`,
      }
    }
  }
  const call = async (verb: string, given: unknown): Promise<Answer> => {
    try {
      const method = Reflect.get(engine, verb) as (
        caller: Caller,
        given: unknown,
      ) => Promise<unknown>
      return {
        isBroken: false,
        isAccepted: true,
        text: JSON.stringify(await method(operator, given)) ?? '',
      }
    } catch (error) {
      return {
        isBroken: !isLullError(error),
        isAccepted: false,
        text: String(error instanceof Error ? error.stack : error),
      }
    }
  }
  const answerTo = (request: Fuzzed): Promise<Answer> => {
    switch (request.door) {
      case 'engine':
        return call(request.verb, request.given)
      case 'ops':
        return ops(
          request.method,
          request.path,
          request.given === undefined ? undefined : JSON.stringify(request.given),
        )
      case 'a2a':
        return rpc(request.version, request.method, request.given)
      case 'acp':
        return acp(request.method, request.given)
      case 'import': {
        const file = exampleFile(request.type, request.given, `imported-${sent}`)
        return ops('POST', '/ops/imports', JSON.stringify({ ...file, start: request.start }))
      }
    }
  }
  const judged = async (what: string, answer: Promise<Answer>): Promise<string | undefined> => {
    const found = await Promise.race([harness.advanceUntil(answer), late()])
    if (found.isBroken) return `${what}: ${found.text.slice(0, 1_000)}`
    return found.text.includes(SECRET) ? `${what}: shows another tenant's task` : undefined
  }
  const tasks = async () => {
    const all = []
    let cursor: string | undefined
    do {
      const page = await engine.list(operator, {
        limit: 100,
        ...(cursor === undefined ? {} : { cursor }),
      })
      all.push(...page.tasks)
      cursor = page.cursor
    } while (cursor !== undefined)
    return all
  }
  const shut = async (): Promise<void> => {
    a2a.close()
    await harness.acp.close()
    await engine.drain({ timeoutMs: 0 })
    await store.close()
  }

  return {
    accepted,
    send(request) {
      sent++
      const { door } = request
      const named = Object.entries(known).reduce(
        (text, [name, id]) => text.replaceAll(name, id),
        JSON.stringify(request),
      )
      const answer = answerTo(JSON.parse(named) as Fuzzed).then((found) => {
        if (found.isAccepted) accepted[door]++
        return found
      })
      return judged(named.slice(0, 2_000), answer)
    },
    async look() {
      const paths = [
        'tasks?limit=100',
        'tasks?q=go',
        'tasks?sort=due',
        'waiting?limit=100',
        'overview',
        'holds',
      ]
      const more = ['budgets', 'rules', 'schedules', 'audit', 'queues', 'workers', 'agents']
      const found = [
        ...(await Promise.all(
          [...paths, ...more].map((path) => judged(path, ops('GET', `/ops/${path}`))),
        )),
        await judged('ListTasks', rpc('1.0', 'ListTasks', { pageSize: 100 })),
        await judged('session/list', acp('session/list', {})),
      ]
      return found.filter((problem) => problem !== undefined)
    },
    async free() {
      for (const { id } of await engine.holds(operator)) await engine.lift(operator, id)
      for (const { id } of await engine.budgets(operator)) await engine.removeBudget(operator, id)
      for (const { id } of await engine.rules(operator)) await engine.removeRule(operator, id)
    },
    async stranded() {
      const open = (await tasks()).filter(({ state }) => !isTerminal(state))
      const ended = open.map(async ({ id }) => {
        await engine.cancel(operator, { taskId: id }).catch(() => undefined)
        const after = engine.waitFor(operator, id, ({ state }) => isTerminal(state))
        return Promise.race([after.then(() => undefined), late().catch(() => id)])
      })
      return (await harness.advanceUntil(Promise.all(ended))).filter((id) => id !== undefined)
    },
    async reopen() {
      await shut()
      return openSite(data)
    },
    async close() {
      await shut()
      rmSync(data, { recursive: true })
    },
  }
}

interface Answer {
  /** An error that is not the caller's. */
  readonly isBroken: boolean
  readonly isAccepted: boolean
  readonly text: string
}

function late(): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error('no answer')), LONGEST_MS).unref()
  })
}

/** What a stream says first is enough. */
async function textOf(response: Response): Promise<string> {
  if (response.headers.get('content-type') !== 'text/event-stream') return response.text()
  await response.body?.cancel()
  return ''
}

/** The ids that stand for the names of the grammar. */
async function someTasks(
  { engine }: Harness,
  editor: Editor,
): Promise<Readonly<Record<string, string>>> {
  const begin = async (caller: Caller, text: string) => {
    const sent = await engine.send(caller, { message: message(text) })
    if (sent.kind !== 'task') throw new Error('the answer was a message, not a task')
    const stops = text === 'park' ? 'paused-by-agent' : 'input-required'
    return engine.waitFor(caller, sent.task.id, ({ state }) => state === stops || isTerminal(state))
  }
  const own = await begin(anyone, 'park')
  const asking = await begin(anyone, 'ask')
  const victim = await begin(vera, SECRET)
  return {
    $own: own.id,
    $asking: asking.id,
    $victim: victim.id,
    $handle: own.suspension?.handle ?? '',
    $context: own.contextId,
    $session: await newSession(editor),
  }
}
