/**
 * `docs/architecture.md` is true: it names files that exist, a walk names files that run for its request, and says how many
 * files run in all. The requests are made on the built server and traced (`walks/`).
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { root } from './documents.ts'
import { traceWalks, type WalkName } from './walks/trace-walks.ts'

/** The sections of the page that are walks. */
const titles: Readonly<Record<WalkName, string>> = {
  send: 'Walk 1: send',
  step: 'Inside the run: one step',
  pause: 'Walk 2: pause',
  event: 'Walk 3: event',
  suspend: 'Walk 4: suspend over ACP',
  deadline: 'Walk 5: deadline after a restart',
  cluster: 'Walk 6: event in a cluster',
}
const names = Object.keys(titles) as WalkName[]
/** When so many files fewer run than the page says, the page has to say the lower number. */
const FEWER = 5

const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8')
const sections = new Map(
  page.split(/^##+ /m).map((text) => [text.slice(0, text.indexOf('\n')), text] as const),
)

function filesIn(text: string): readonly string[] {
  return [...text.matchAll(/`((?:src|scripts)\/[^`]+)`/g)].map(([, path = '']) => path)
}

it('names only files that exist', () => {
  const files = filesIn(page)
  expect(files.length).toBeGreaterThan(80)
  expect(files.filter((path) => !existsSync(join(root, path)))).toEqual([])
})

it('has every folder of the engine, and no other', () => {
  const rows = [...(sections.get('The folders') ?? '').matchAll(/^\| `([^`]+)` \|/gm)]
  const folders = readdirSync(join(root, 'src/engine'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'test-support')
    .map(({ name }) => name)
  expect(rows.map(([, name]) => name)).toEqual(folders.sort())
})

describe('the walks', () => {
  let traced: Awaited<ReturnType<typeof traceWalks>>
  beforeAll(async () => {
    traced = await traceWalks()
  })

  describe.each(names)('%s', (name) => {
    const text = sections.get(titles[name]) ?? ''
    const steps = [...text.matchAll(/^\d+\. (.*)$/gm)].map(([, step = '']) => step)

    it('has at most 15 steps, and each begins with a file', () => {
      expect(steps.length).toBeGreaterThan(5)
      expect(steps.length).toBeLessThanOrEqual(15)
      for (const step of steps) expect(step).toMatch(/^`src\/[^`]+\.ts` \S/)
    })

    it('names in its steps only files that run', () => {
      const named = steps.flatMap((step) =>
        [...step.matchAll(/`([^`]+\.ts)`/g)].map(([, path = '']) => path),
      )
      expect(named.filter((path) => !traced[name].includes(path))).toEqual([])
    })

    it('says how many files run, and no more do', () => {
      const [, said] = /^Files that run: (\d+)\.$/m.exec(text) ?? []
      const ran = traced[name].length
      const write = `docs/architecture.md, "${titles[name]}": write "Files that run: ${ran}."`
      expect(ran, `More files run. Can the way be shorter? If not, ${write}`).toBeLessThanOrEqual(
        Number(said),
      )
      expect(ran, `Fewer files run. In ${write}`).toBeGreaterThan(Number(said) - FEWER)
    })
  })
})
