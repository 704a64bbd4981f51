/**
 * Provides the live text of tasks to readers in this process, also for tasks that run in other
 * processes.
 *
 *  Y1  Text of another process is shown only to a reader that has seen exactly the records that the
 *      writing run had seen. Any other reader is neither shown text nor told that its text was
 *      discarded. So recorded text never looks discarded, whether the record or the text arrives
 *      first.
 *  Y2  Only text of the run that the log names is shown, so a run that was taken over shows nothing.
 *  Y3  Messages may be lost, repeated or late. A process that misses one asks for the whole text.
 */
import type { LiveText } from '../../core/messages/live-text.ts'
import { type TextNews, withNews } from '../../core/messages/text-news.ts'
import type { RunToken } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import type { Changes, ClusterStore, TextWish } from '../../ports/store/cluster.ts'
import type { EngineContext } from '../context.ts'
import type { LiveTexts } from './live-texts.ts'
import type { ReaderTexts } from './subscriptions.ts'
import { createTextSender } from './text-sender.ts'
import { createTextWishes } from './text-wishes.ts'

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

/** @param context its parts are read only after the engine is assembled */
export function createSharedTexts(
  context: Pick<EngineContext, 'clock' | 'ledger' | 'runs' | 'subscriptions'>,
  { cluster, live, worker }: SharedTextsDeps,
): SharedTexts {
  const sender = createTextSender(context, { cluster, live })
  const followed = new Map<string, Followed>()
  let changed: (taskId: string) => void = () => undefined

  live.watch((taskId) => {
    sender.changed(taskId)
    changed(taskId)
  })

  const isRead = (taskId: string): boolean => context.subscriptions.isTextRead(taskId)
  const isElsewhere = ({ run }: Followed): boolean => run !== undefined && run.worker !== worker()

  const wishes = createTextWishes(
    (asked) => cluster.report({ wishes: asked }),
    wanted,
    () => followed.size > 0,
    context.clock,
  )

  /** The texts to ask for now. Drops tasks that no longer have a reader. */
  function wanted(): readonly TextWish[] {
    for (const taskId of [...followed.keys()]) if (!isRead(taskId)) followed.delete(taskId)
    return [...followed].filter(([, one]) => isElsewhere(one)).map(([id, one]) => wishOf(id, one))
  }

  function open(task: FollowedTask): void {
    if (!followed.has(task.id)) followed.set(task.id, unknown(task))
    follow(task)
    const one = followed.get(task.id)
    if (one !== undefined && isElsewhere(one)) wishes.ask([wishOf(task.id, one)])
    wishes.askLater()
  }

  function follow(task: FollowedTask): void {
    const one = followed.get(task.id)
    if (one === undefined || !moveTo(one, task)) return
    if (isElsewhere(one) && isRead(task.id)) wishes.ask([wishOf(task.id, one)])
  }

  function take(news: TextNews): void {
    const { taskId, version } = news
    const one = followed.get(taskId)
    if (one === undefined) return
    if (version > one.version) context.ledger.heard(taskId, version)
    const outcome = add(one, news)
    if (outcome === 'incomplete') wishes.ask([wishOf(taskId, one)])
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
      if (everything) wishes.askAll()
    },
    stop() {
      sender.stop()
      wishes.stop()
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
