/** Links in the documents lead to files that exist, and to headings that exist in them. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { documents, root } from './documents.ts'

const pages = documents()

function linksIn(text: string): readonly string[] {
  const prose = text.replace(/^```.*?^```$/gms, '').replace(/`[^`]*`/g, '')
  return [...prose.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link = '']) => link)
}

/** As GitHub makes anchors of headings. */
function anchorsIn(text: string): readonly string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-'),
  )
}

function isBroken(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#')
  const target = path === '' ? join(root, page) : join(root, dirname(page), path)
  if (!existsSync(target)) return true
  return anchor !== undefined && !anchorsIn(readFileSync(target, 'utf8')).includes(anchor)
}

it('finds links', () => {
  expect(pages.flatMap(({ text }) => linksIn(text)).length).toBeGreaterThan(20)
})

it.each(pages.map(({ path, text }) => [path, text] as const))('%s', (path, text) => {
  expect(linksIn(text).filter((link) => isBroken(path, link))).toEqual([])
})
