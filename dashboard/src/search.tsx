/**
 * The search over all tasks. What the page knows is filtered at once, and the server looks through the others. What the
 * server finds appears in the columns and in their counts. The words are in the address, so that a link has the search.
 */
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { type KnownTasks, merged } from './known-tasks.ts'
import { query } from './router.ts'
import { messageOf, ops } from './server.ts'

/** What the server found for the words. It stays, however many other tasks the page learns. */
export const hits = signal<KnownTasks>(new Map())

/** What the server answered for the words. Undefined until it did. */
const answer = signal<{ read: number; cursor: string | undefined } | undefined>(undefined)
const problem = signal<string | undefined>(undefined)

/** The server is asked this long after the last change of the words. */
const PAUSE_MS = 250

const wordsNow = (): string => (query.value['q'] ?? '').trim()

/** The words of the address. The server is asked for them. */
export function useSearch(): string {
  const words = wordsNow()
  useEffect(() => {
    answer.value = undefined
    problem.value = undefined
    hits.value = new Map()
    if (words === '') return
    const timer = setTimeout(() => ask(words), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [words])
  return words
}

export function SearchProgress() {
  const words = wordsNow()
  if (words === '') return null
  return (
    <p role="status" class="quiet">
      {problem.value ?? <Progress words={words} />}
    </p>
  )
}

function Progress({ words }: { readonly words: string }) {
  const found = answer.value
  if (found === undefined) return <>Searching…</>
  const { read, cursor } = found
  if (cursor === undefined) return <>Every task was searched.</>
  return (
    <>
      The latest {read.toLocaleString()} tasks were searched.{' '}
      <button type="button" class="plain" onClick={() => ask(words, cursor, read)}>
        Search older ones
      </button>
    </>
  )
}

function ask(words: string, cursor?: string, before = 0): void {
  ops()
    .tasks({ q: words, cursor })
    .then(
      (list) => {
        if (wordsNow() !== words) return
        hits.value = merged(hits.value, list.tasks, performance.now())
        problem.value = undefined
        answer.value = { read: before + (list.searched ?? 0), cursor: list.cursor }
      },
      (error: unknown) => {
        if (wordsNow() === words) problem.value = messageOf(error)
      },
    )
}
