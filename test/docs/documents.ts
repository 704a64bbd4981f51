/** The documents of the project and the fenced blocks in them. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

export interface Block {
  /** `sh`, `text`, `ts`… */
  readonly language: string
  readonly text: string
}

export interface Document {
  readonly path: string
  readonly text: string
  readonly blocks: readonly Block[]
}

export function documents(): readonly Document[] {
  const inDocs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => join('docs', path))
  return ['README.md', 'CONTRIBUTING.md', ...inDocs.sort()].map((path) => {
    const text = readFileSync(join(root, path), 'utf8')
    return { path, text, blocks: blocksIn(text) }
  })
}

function blocksIn(text: string): readonly Block[] {
  return [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', body = '']) => ({
    language,
    text: body,
  }))
}
