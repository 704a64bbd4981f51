/**
 * Provides the live text of tasks to readers in this process, also for tasks that run in other processes. A process asks
 * the others for the texts that its readers need, and repeats the request, because requests may be lost. `createTextSender`
 * answers the requests of other processes.
 *
 *  Y1  Text of another process is shown only to a reader that has seen exactly the records that the writing run had seen.
 *      Any other reader is neither shown text nor told that its text was discarded. So recorded text never looks discarded,
 *      whether the record or the text arrives first.
 *  Y2  Only text of the run that the log names is shown, so a run that was taken over shows nothing.
 *  Y3  Messages may be lost, repeated or late. A process that misses one asks for the whole text.
 *  Y4  The first text is sent at once, later ones at most every `PACE_MS` for all tasks together, with at most `MOST` new
 *      units.
 *  Y5  Receivers repeat their request regularly. A text without a recent request is no longer sent.
 */

import type { LiveText, TextPosition } from '../../core/messages/live-text.ts'
import { type TextNews, tell, withNews } from '../../core/messages/text-news.ts'
import type { RunToken } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Changes, ClusterStore, TextWish } from '../../ports/store/cluster.ts'
import type { EngineContext } from '../context.ts'
import type { LiveTexts } from './live-texts.ts'
import type { ReaderTexts } from './subscriptions.ts'

export interface SharedTexts extends ReaderTexts {
  /** Called after every write to a task that is published here. */
  observe(task: Task): void
  hear(changes: Changes): void
  stop(): void
}

export interface SharedTextsDeps {
  readonly cluster: Pick<ClusterStore, 'report'>
  readonly live: LiveTexts
  /** The id of this process. */
  readonly worker: () => string
}

type FollowedTask = Pick<Task, 'id' | 'run' | 'version'>

/** What is known of a task that has readers here. */
interface Followed {
  run: RunToken | undefined
  version: number
  /** The texts of its run in another process, which belong to `version`. Undefined: not known. */
  texts: readonly LiveText[] | undefined
  textVersion: number
  number: number
}

const none: readonly LiveText[] = []
/** A request is dropped this long after it was last repeated. */
const REQUEST_MS = 15_000
const ASK_MS = REQUEST_MS / 3

/** @param context its parts are read only after the engine is assembled */
export function createSharedTexts(
  context: Pick<EngineContext, 'clock' | 'ledger' | 'runs' | 'subscriptions'>,
  { cluster, live, worker }: SharedTextsDeps,
): SharedTexts {
  const sender = createTextSender(context, { cluster, live })
  const followed = new Map<string, Followed>()
  let changed: (taskId: string) => void = () => undefined
  let cancelAsk: (() => void) | undefined

  live.watch((taskId) => {
    sender.changed(taskId)
    changed(taskId)
  })

  const isRead = (taskId: string): boolean => context.subscriptions.isTextRead(taskId)
  const isElsewhere = ({ run }: Followed): boolean => run !== undefined && run.worker !== worker()

  function ask(wishes: readonly TextWish[]): void {
    if (wishes.length > 0) cluster.report({ wishes })
  }

  /** Asks for all wanted texts after a while, and repeats it while any task is followed. */
  function askLater(): void {
    cancelAsk ??= context.clock.after(ASK_MS, () => {
      cancelAsk = undefined
      ask(wanted())
      if (followed.size > 0) askLater()
    })
  }

  /** The texts to ask for now. Drops tasks that no longer have a reader. */
  function wanted(): readonly TextWish[] {
    for (const taskId of [...followed.keys()]) if (!isRead(taskId)) followed.delete(taskId)
    return [...followed].filter(([, one]) => isElsewhere(one)).map(([id, one]) => wishOf(id, one))
  }

  function open(task: FollowedTask): void {
    if (!followed.has(task.id)) followed.set(task.id, unknown(task))
    follow(task)
    const one = followed.get(task.id)
    if (one !== undefined && isElsewhere(one)) ask([wishOf(task.id, one)])
    askLater()
  }

  function follow(task: FollowedTask): void {
    const one = followed.get(task.id)
    if (one === undefined || !moveTo(one, task)) return
    if (isElsewhere(one) && isRead(task.id)) ask([wishOf(task.id, one)])
  }

  function take(news: TextNews): void {
    const { taskId, version } = news
    const one = followed.get(taskId)
    if (one === undefined) return
    if (version > one.version) context.ledger.heard(taskId, version)
    const outcome = add(one, news)
    if (outcome === 'incomplete') ask([wishOf(taskId, one)])
    if (outcome === 'added') changed(taskId)
  }

  return {
    of(taskId, version) {
      const one = followed.get(taskId)
      const isHere = one === undefined || one.run?.worker === worker()
      return isHere ? live.of(taskId) : textsAt(one, version)
    },
    watch: (callback) => {
      changed = callback
    },
    open,
    observe(task) {
      sender.changed(task.id)
      follow(task)
      if (followed.has(task.id)) changed(task.id)
    },
    hear({ texts, wishes: asked, everything, rolledBack }) {
      if (rolledBack) for (const one of followed.values()) forget(one)
      if (asked !== undefined) sender.wanted(asked)
      for (const news of texts ?? []) take(news)
      if (everything) ask(wanted())
    },
    stop() {
      sender.stop()
      cancelAsk?.()
    },
  }
}

/** Stores the new version and run. Returns whether it is another run than before. */
function moveTo(one: Followed, { run, version }: FollowedTask): boolean {
  if (version < one.version) return false
  const isOtherRun = one.run?.token !== run?.token
  Object.assign(one, { run, version })
  // Message numbers of another process are not comparable.
  if (isOtherRun) Object.assign(one, { texts: undefined, number: 0 })
  return isOtherRun
}

function add(one: Followed, news: TextNews): 'added' | 'ignored' | 'incomplete' {
  const { token, version, number } = news
  if (one.run?.token !== token || number <= one.number) return 'ignored'
  const texts = withNews(one.texts ?? none, news)
  one.texts = texts
  if (texts === undefined) return 'incomplete'
  Object.assign(one, { number, textVersion: version })
  return 'added'
}

function textsAt(one: Followed, version: number): readonly LiveText[] | undefined {
  if (one.run === undefined) return version === one.version ? none : undefined
  return version === one.textVersion ? one.texts : undefined
}

function unknown({ run, version }: FollowedTask): Followed {
  return { run, version, texts: undefined, textVersion: 0, number: 0 }
}

/** The store may have lost writes, so the task may return to an earlier version. */
function forget(one: Followed): void {
  Object.assign(one, { run: undefined, version: 0, texts: undefined })
}

function wishOf(taskId: string, { texts, number }: Followed): TextWish {
  return { taskId, heard: texts === undefined ? 0 : number }
}

/**
 * Sends the live text of tasks that run here to other processes. Only texts that another process asked for are sent, so
 * nothing is sent while no other process has readers.
 */
interface TextSender {
  /** Called when another process asks for texts. */
  wanted(requests: readonly TextWish[]): void
  /** Called when the texts or the version of the task have changed. */
  changed(taskId: string): void
  stop(): void
}

const PACE_MS = 50
/** The most UTF-16 units of new text per flush. The rest follows with the next flushes. */
const MOST = 65_536

interface TextRequest {
  until: number
  token: string
  /** The number of the last message. */
  number: number
  /** How much of each text the other processes have. */
  positions: readonly TextPosition[]
  /** Whether a receiver asked for the text and must get an answer even if there is none. */
  isAsked: boolean
}

interface Message {
  readonly news: TextNews
  readonly size: number
  readonly isPartial: boolean
}

/** The next message for a request. Undefined if there is nothing to send. */
function nextMessage(
  request: TextRequest,
  { id: taskId, version }: Task,
  number: number,
  texts: readonly LiveText[],
  limit: number,
): Message | undefined {
  const { token } = request
  const { pieces, positions, size, isPartial } = tell(texts, request.positions, limit)
  const isDue = request.isAsked || pieces.length > 0 || request.positions.length > 0
  request.positions = positions
  request.isAsked = false
  if (!isDue) return undefined
  request.number = number
  return { news: { taskId, token, version, number, pieces }, size, isPartial }
}

const nothingSent = { number: 0, positions: [], isAsked: true }

/** @param context its parts are read only after the engine is assembled */
function createTextSender(
  context: Pick<EngineContext, 'clock' | 'runs'>,
  { cluster, live }: { readonly cluster: Pick<ClusterStore, 'report'>; readonly live: LiveTexts },
): TextSender {
  const requests = new Map<string, TextRequest>()
  const changedTasks = new Set<string>()
  let number = 0
  let phase: 'idle' | 'due' | 'pausing' | 'stopped' = 'idle'
  let cancel: () => void = () => undefined

  function changed(taskId: string): void {
    if (!requests.has(taskId)) return
    changedTasks.add(taskId)
    if (phase === 'idle') flushSoon()
  }

  /** Sends the changes of one event-loop turn together. */
  function flushSoon(): void {
    phase = 'due'
    setImmediate(flush)
  }

  function flush(): void {
    if (phase === 'stopped') return
    phase = 'pausing'
    cancel = context.clock.after(PACE_MS, () => {
      phase = 'idle'
      if (changedTasks.size > 0) flushSoon()
    })
    const texts: TextNews[] = []
    let left = MOST
    for (const taskId of [...changedTasks]) {
      if (left <= 0) break
      changedTasks.delete(taskId)
      const message = messageOf(taskId, left)
      if (message === undefined) continue
      texts.push(message.news)
      left -= message.size
      if (message.isPartial) changedTasks.add(taskId)
    }
    if (texts.length > 0) cluster.report({ texts })
  }

  function messageOf(taskId: string, limit: number): Message | undefined {
    const request = requests.get(taskId)
    const { clock, runs } = context
    const task = runs.known(taskId)
    if (request === undefined || task?.run === undefined || clock.elapsed() > request.until) {
      requests.delete(taskId)
      return undefined
    }
    const { token } = task.run
    if (request.token !== token) Object.assign(request, nothingSent, { token })
    return nextMessage(request, task, ++number, live.of(taskId), limit)
  }

  return {
    changed,
    wanted(asked) {
      const { clock, runs } = context
      for (const { taskId, heard } of asked) {
        const token = runs.known(taskId)?.run?.token
        if (token === undefined) continue
        const request = requests.get(taskId) ?? { ...nothingSent, token, until: 0 }
        request.until = clock.elapsed() + REQUEST_MS
        if (heard === 0 || heard !== request.number) Object.assign(request, nothingSent)
        requests.set(taskId, request)
        if (request.isAsked) changed(taskId)
      }
    },
    stop() {
      phase = 'stopped'
      cancel()
    },
  }
}
