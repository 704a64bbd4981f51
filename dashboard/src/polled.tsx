/** What a page reads from the server again and again while it is shown, because the change feed does not have it. */
import { type Signal, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { messageOf } from './server.ts'

const REFRESH_MS = 5_000

export interface Polled<T> {
  /** Undefined until the first answer. */
  readonly value: Signal<T | undefined>
  readonly problem: Signal<string | undefined>
  readonly refresh: () => Promise<void>
}

const forgetting: (() => void)[] = []

/** Drops every answer. A page that could not draw one would otherwise get the same one again. */
export function forgetPolled(): void {
  for (const forget of forgetting) forget()
}

export function createPolled<T>(read: () => Promise<T>): Polled<T> {
  const value = signal<T | undefined>(undefined)
  forgetting.push(() => {
    value.value = undefined
  })
  const problem = signal<string | undefined>(undefined)
  let latest = 0
  const refresh = async (): Promise<void> => {
    // The answer to an earlier request may arrive after that to a later one.
    const own = ++latest
    const answer = await read().then(
      (found) => ({ found }),
      (error: unknown) => ({ problem: messageOf(error) }),
    )
    if (own !== latest) return
    problem.value = 'problem' in answer ? answer.problem : undefined
    if ('found' in answer) value.value = answer.found
  }
  return { value, problem, refresh }
}

/** Reads now and every few seconds, not while the page is hidden. */
export function usePolled(
  { refresh }: Pick<Polled<unknown>, 'refresh'>,
  everyMs: number = REFRESH_MS,
): void {
  useEffect(() => {
    refresh().catch(() => undefined)
    const timer = setInterval(() => {
      if (!document.hidden) refresh().catch(() => undefined)
    }, everyMs)
    return () => clearInterval(timer)
  }, [])
}

export function Problem({ of }: { readonly of: Pick<Polled<unknown>, 'problem'> }) {
  if (of.problem.value === undefined) return null
  return (
    <div class="notice bad" role="alert">
      <p class="refusal">{of.problem.value}</p>
    </div>
  )
}
