/** The files of docs/deploy name variables, flags and files that exist, and have the form their readers expect. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { findCommand } from '../../src/cli/run-cli.ts'
import { root } from './documents.ts'

const folder = join(root, 'docs/deploy')
const files = readdirSync(folder).map((name) => [name, read(name)] as const)
const configuration = readFileSync(join(root, 'docs/configuration.md'), 'utf8')

function read(name: string): string {
  return readFileSync(join(folder, name), 'utf8')
}

it.each(files)('%s names variables of the configuration', (_, text) => {
  for (const [variable] of text.matchAll(/\bLULL_[A-Z_]+/g))
    expect(configuration).toContain(variable)
})

it('compose.yaml and lull@.service call commands of the program, with flags that they have', () => {
  const called = ['compose.yaml', 'lull@.service'].flatMap((name) =>
    [...read(name).matchAll(/node_modules\/\.bin\/lull (.*)$/gm)].map(([, args = '']) => args),
  )
  expect(called).toHaveLength(3)
  for (const args of called) {
    const command = findCommand(args.split(' '))
    expect(command, args).toBeDefined()
    const flags = [...args.matchAll(/--([a-z-]+)/g)].map(([, flag = '']) => flag)
    expect(Object.keys(command?.flags ?? {})).toEqual(expect.arrayContaining(flags))
  }
})

it('both start the file that npm installs as the program', () => {
  const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  expect(Object.keys(bin)).toContain('lull')
  // A container and a service end their first process: npx would stand between.
  for (const name of ['compose.yaml', 'lull@.service']) expect(read(name)).not.toContain('npx')
})

it.each(['lull@.service', 'pgbouncer.ini'])(
  '%s has sections, and a value for each name',
  (name) => {
    const lines = read(name)
      .split('\n')
      .filter((line) => line !== '' && !/^[#;]/.test(line))
    expect(lines[0]).toMatch(/^\[\w+\]$/)
    for (const line of lines) expect(line).toMatch(/^(\[\w+\]|\w+ ?= ?\S.*)$/)
  },
)

it('compose.yaml has services whose volumes and dependencies exist', () => {
  const lines = read('compose.yaml')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
  for (const line of lines) {
    expect(line).toMatch(/^(?: {2})*(?:- \S.*|[\w.]+:(?: \S.*)?)$/)
  }
  const names = (above: string): readonly string[] => {
    const [, block = ''] =
      new RegExp(`^${above}:\\n((?: {2}.*\\n)+)`, 'm').exec(read('compose.yaml')) ?? []
    return [...block.matchAll(/^ {2}(\w+):/gm)].map(([, name = '']) => name)
  }
  expect(names('services')).toEqual(['postgres', 'lull', 'front'])
  expect(names('volumes')).toEqual(['postgres'])
  expect(readdirSync(folder)).toContain('nginx.conf')
})

it('a page links to each of them', () => {
  const pages = ['docs/scale.md', 'docs/observability.md', 'docs/guides/containers.md']
  const text = pages.map((page) => readFileSync(join(root, page), 'utf8')).join('\n')
  for (const [name] of files) expect(text).toMatch(new RegExp(`\\((?:\\.\\./)?deploy/${name}\\)`))
})

it.each(['prometheus-alerts.yaml', 'otel-collector.yaml'])('%s has the form of YAML', (name) => {
  const lines = read(name)
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.trim().startsWith('#'))
  for (const line of lines) expect(line).toMatch(/^(?: {2})*(?:- )?\w+:(?: \S.*)?$/)
})

it('prometheus-alerts.yaml says of each alert how urgent it is and what it means', () => {
  const alerts = read('prometheus-alerts.yaml').split('- alert: ').slice(1)
  expect(alerts.length).toBeGreaterThan(5)
  for (const alert of alerts)
    expect(alert).toMatch(/expr: .+\n.*severity: (page|ticket).*summary: /s)
})

it('otel-collector.yaml has pipelines of parts that it defines', () => {
  const text = read('otel-collector.yaml')
  for (const kind of ['receivers', 'processors', 'exporters']) {
    const [, block = ''] = new RegExp(`^${kind}:\\n((?: {2}.*\\n)+)`, 'm').exec(text) ?? []
    const defined = [...block.matchAll(/^ {2}(\w+):/gm)].map(([, name = '']) => name)
    const used = [...text.matchAll(new RegExp(`^ {6}${kind}: \\[(.*)\\]$`, 'gm'))].flatMap(
      ([, list = '']) => list.split(', '),
    )
    expect(used.length).toBeGreaterThan(0)
    expect([...new Set(used)].sort()).toEqual(defined.sort())
  }
})

it('kubernetes.yaml asks for paths that the server answers, and stops a process after it has drained', () => {
  const text = read('kubernetes.yaml')
  const kinds = [...text.matchAll(/^kind: (\w+)$/gm)].map(([, kind]) => kind)
  expect(kinds).toEqual(['Service', 'Deployment', 'PodDisruptionBudget', 'HorizontalPodAutoscaler'])
  const paths = [...text.matchAll(/path: (\S+)/g)].map(([, path]) => path)
  expect(paths).toEqual(['/readyz', '/healthz', '/readyz'])
  const seconds = (name: string) => Number(new RegExp(`${name}: (\\d+)`).exec(text)?.[1])
  // Ten seconds for the steps, ten for the rest, and the sleep before the signal.
  expect(seconds('terminationGracePeriodSeconds')).toBeGreaterThanOrEqual(20 + seconds('seconds'))
})

it('the number that Kubernetes scales by is made of a metric that the server has', () => {
  const adapter = read('prometheus-adapter.yaml')
  const [, name = ''] = /as: (\w+)/.exec(adapter) ?? []
  expect(read('kubernetes.yaml')).toContain(`name: ${name}`)
  const [, metric = ''] = /seriesQuery: (\w+)/.exec(adapter) ?? []
  expect(readFileSync(join(root, 'docs/observability.md'), 'utf8')).toContain(`\`${metric}\``)
})
