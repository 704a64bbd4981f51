/** A worker as the test that drives it sees it: calls, news, death. */
import { type ChildProcess, type ForkOptions, fork } from 'node:child_process'
import { inject } from 'vitest'
import { effectsPath } from '../crash/effects-file.ts'
import type { MethodName, Methods, News, WorkerOptions } from '../crash/worker.ts'
import { LEASE_MS, onPostgres, storeVariables } from './test-store.ts'

export interface Worker {
  readonly pid: number
  /** Its engine has started. @throws Died when it did not get that far */
  readonly ready: Promise<void>
  /** @throws Refused what the engine refused, Died when the process ended first */
  call<M extends MethodName>(
    method: M,
    ...args: Parameters<Methods[M]>
  ): Promise<Awaited<ReturnType<Methods[M]>>>
  /** The first news from now on that is wanted. */
  next<N extends News>(wanted: (news: News) => news is N): Promise<N>
  /** Hears all news; returns how to stop. */
  listen(heard: (news: News) => void): () => void
  /** SIGKILL, and waits until it is gone. */
  kill(): Promise<void>
  readonly died: Promise<void>
  readonly isDead: () => boolean
}

export class Died extends Error {
  override readonly name = 'Died'
  readonly pid: number

  constructor(pid: number) {
    super(`worker ${pid} died`)
    this.pid = pid
  }
}

export class Refused extends Error {
  override readonly name = 'Refused'
  readonly code: string

  constructor(code: string, text: string) {
    super(text)
    this.code = code
  }
}

/** Starts a process; its engine has not started yet. */
export function spawnWorker(options: WorkerOptions): Worker {
  const { data, engine } = options
  const variables = storeVariables(data)
  const env = { ...process.env, LULL_EFFECTS: effectsPath(data), ...variables }
  const leased = onPostgres ? { ...options, engine: { leaseMs: LEASE_MS, ...engine } } : options
  const how: ForkOptions = { execArgv: [], stdio: 'inherit', env }
  const worker = createWorker(fork(inject('worker'), [JSON.stringify(leased)], how))
  living.add(worker)
  worker.died.then(() => living.delete(worker)).catch(() => undefined)
  return worker
}

/** @throws Died when its engine did not get as far as starting */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const worker = spawnWorker(options)
  await worker.ready
  return worker
}

const living = new Set<Worker>()

/** For `afterEach`: no test leaves a process behind. */
export async function killAll(): Promise<void> {
  await Promise.all([...living].map((worker) => worker.kill()))
}

function createWorker(child: ChildProcess): Worker {
  const listeners = new Set<(news: News) => void>()
  const waiting = new Set<(error: Error) => void>()
  const pid = child.pid ?? 0
  let calls = 0
  let dead = false

  child.on('message', (news: News) => {
    for (const heard of [...listeners]) heard(news)
  })
  // Not `exit`: news it sent before it died may still be on the way then.
  const died = new Promise<void>((resolve) => {
    child.once('close', () => {
      dead = true
      for (const fail of [...waiting]) fail(new Died(pid))
      resolve()
    })
  })

  function listen(heard: (news: News) => void): () => void {
    listeners.add(heard)
    return () => listeners.delete(heard)
  }

  function next<N extends News>(wanted: (news: News) => news is N): Promise<N> {
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => {
        stop()
        waiting.delete(fail)
        reject(error)
      }
      const stop = listen((news) => {
        if (!wanted(news)) return
        stop()
        waiting.delete(fail)
        resolve(news)
      })
      if (dead) fail(new Died(pid))
      else waiting.add(fail)
    })
  }

  const ready = next(isReady).then(() => undefined)
  // Whoever does not wait for it learns of the death elsewhere.
  ready.catch(() => undefined)

  return {
    pid,
    ready,
    async call(method, ...args) {
      const id = ++calls
      const answered = next(
        (news): news is Answered => (isAnswer(news) || isRefusal(news)) && news.id === id,
      )
      if (!dead) child.send({ id, method, args }, () => undefined)
      const news = await answered
      if (news.kind === 'refusal') throw new Refused(news.code, news.text)
      return news.value as never
    },
    next,
    listen,
    async kill() {
      child.kill('SIGKILL')
      await died
    },
    died,
    isDead: () => dead,
  }
}

type Answered = News & { readonly kind: 'answer' | 'refusal' }

const isReady = (news: News): news is News & { kind: 'ready' } => news.kind === 'ready'
const isAnswer = (news: News): news is News & { kind: 'answer' } => news.kind === 'answer'
const isRefusal = (news: News): news is News & { kind: 'refusal' } => news.kind === 'refusal'
