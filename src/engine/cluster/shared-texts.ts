/**
 * The live text of tasks for the readers of this process, wherever the tasks run.
 *
 *  Y1  Text of another process is shown to a reader that has seen exactly the records which that run had seen. For any
 *      other reader it is not known which texts there are: the reader is shown none, and none is discarded. So text that
 *      is recorded is never taken for discarded text, whichever of record and text arrives first.
 *  Y2  Only text of the run that the log names is shown, so a run that was taken over shows nothing.
 *  Y3  Messages may be lost, doubled and late. A process that misses something asks for everything.
 */
import type { LiveText } from '../../core/live-text.ts'
import type { RunToken } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import { type TextNews, withNews } from '../../core/text-news.ts'
import type { Changes, ClusterStore, TextWish } from '../../ports/store/cluster.ts'
import type { EngineContext } from '../context.ts'
import type { LiveTexts } from '../live-texts.ts'
import type { ReaderTexts } from '../subscriptions.ts'
import { createTextSender, WISH_MS } from './text-sender.ts'

export interface SharedTexts extends ReaderTexts {
  /** Called after every write to a task that was published here. */
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

/** What is known of a task with readers here. */
interface Followed {
  run: RunToken | undefined
  version: number
  /** The texts of its run elsewhere, and the version they belong to. Undefined: not known. */
  texts: readonly LiveText[] | undefined
  textVersion: number
  number: number
}

const none: readonly LiveText[] = []
/** Asked again three times within the life of a wish, because wishes may be lost. */
const ASK_MS = WISH_MS / 3

/** @param contextOf called only after the engine is assembled */
export function createSharedTexts(
  contextOf: () => Pick<EngineContext, 'clock' | 'ledger' | 'runs' | 'subscriptions'>,
  { cluster, live, worker }: SharedTextsDeps,
): SharedTexts {
  const sender = createTextSender(contextOf, { cluster, live })
  const followed = new Map<string, Followed>()
  let changed: (taskId: string) => void = () => undefined
  let cancel: (() => void) | undefined

  live.watch((taskId) => {
    sender.changed(taskId)
    changed(taskId)
  })

  const isRead = (taskId: string): boolean => contextOf().subscriptions.isTextRead(taskId)
  const isElsewhere = ({ run }: Followed): boolean => run !== undefined && run.worker !== worker()

  function open(task: FollowedTask): void {
    if (!followed.has(task.id)) followed.set(task.id, unknown(task))
    follow(task)
    const one = followed.get(task.id)
    if (one !== undefined && isElsewhere(one)) ask([wishOf(task.id, one)])
    askLater()
  }

  function follow(task: FollowedTask): void {
    const one = followed.get(task.id)
    if (one === undefined || task.version < one.version) return
    const isOtherRun = one.run?.token !== task.run?.token
    one.version = task.version
    one.run = task.run
    if (!isOtherRun) return
    one.texts = undefined
    if (isElsewhere(one) && isRead(task.id)) ask([wishOf(task.id, one)])
  }

  function ask(wishes: readonly TextWish[]): void {
    if (wishes.length > 0) cluster.report({ wishes })
  }

  function askAll(): void {
    for (const taskId of [...followed.keys()]) if (!isRead(taskId)) followed.delete(taskId)
    ask([...followed].filter(([, one]) => isElsewhere(one)).map(([id, one]) => wishOf(id, one)))
  }

  function askLater(): void {
    cancel ??= contextOf().clock.after(ASK_MS, () => {
      cancel = undefined
      askAll()
      if (followed.size > 0) askLater()
    })
  }

  function take(news: TextNews): void {
    const { taskId, token, version, number } = news
    const one = followed.get(taskId)
    if (one === undefined) return
    if (version > one.version) contextOf().ledger.heard(taskId, version)
    if (one.run?.token !== token || number <= one.number) return
    const texts = withNews(one.texts ?? none, news)
    if (texts === undefined) {
      one.texts = undefined
      ask([wishOf(taskId, one)])
      return
    }
    Object.assign(one, { texts, number, textVersion: version })
    changed(taskId)
  }

  return {
    of(taskId, version) {
      const one = followed.get(taskId)
      if (one?.run?.worker === worker() || one === undefined) return live.of(taskId)
      if (one.run === undefined) return version === one.version ? none : undefined
      return version === one.textVersion ? one.texts : undefined
    },
    watch(callback) {
      changed = callback
    },
    open,
    observe(task) {
      sender.changed(task.id)
      follow(task)
      if (followed.has(task.id)) changed(task.id)
    },
    hear({ texts, wishes, everything, rolledBack }) {
      if (rolledBack) for (const one of followed.values()) forget(one)
      if (wishes !== undefined) sender.wanted(wishes)
      for (const news of texts ?? []) take(news)
      if (everything) askAll()
    },
    stop() {
      sender.stop()
      cancel?.()
    },
  }
}

function unknown({ run, version }: FollowedTask): Followed {
  return { run, version, texts: undefined, textVersion: 0, number: 0 }
}

/** The store may have lost writes, so the task may go back to an earlier version. */
function forget(one: Followed): void {
  Object.assign(one, { run: undefined, version: 0, texts: undefined })
}

function wishOf(taskId: string, { texts, number }: Followed): TextWish {
  return { taskId, heard: texts === undefined ? 0 : number }
}
