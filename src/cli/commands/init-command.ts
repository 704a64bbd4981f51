/** `lull init`: a project that installs and runs, with one agent, a test and what is needed to deploy it. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { type Command, exitCodes, type Input, UsageError } from '../command.ts'
import { provideLull } from '../init/lull-source.ts'
import { projectFiles, type Template, templates } from '../init/project-files.ts'

export const init: Command = {
  name: 'init',
  args: '[dir]',
  about: 'Make a project: an agent, a test, a Dockerfile, AGENTS.md, editor settings',
  flags: {
    template: { value: 'ts|js', about: 'TypeScript or JavaScript (default ts where Node runs it)' },
    from: { value: 'file', about: 'The packed package of Lull, or a directory to pack' },
  },
  examples: ['init my-agents', 'init . --template js', 'init my-agents --from lull-0.1.0.tgz'],
  async run(input, io) {
    const [named = '.', ...more] = input.words
    if (more.length > 0) throw new UsageError('give one directory')
    const template = templateIn(input)
    const directory = resolve(named)
    expectEmpty(directory)
    const lull = provideLull(directory, input.text('from'))
    const name = packageName(basename(directory))
    const files = projectFiles({ directory, name, template, lull })
    for (const [path, text] of Object.entries(files)) {
      const file = join(directory, path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text, { flag: 'wx' })
    }
    if (input.has('json')) {
      io.print(JSON.stringify({ directory, template, lull, files: Object.keys(files) }))
      return exitCodes.ok
    }
    const here = relative(process.cwd(), directory)
    io.print(`Made ${Object.keys(files).length} files in ${directory}. Next:`)
    for (const line of [
      ...(here === '' ? [] : [`cd ${here}`]),
      'npm install',
      'npm test',
      'npm start',
    ]) {
      io.print(`  ${line}`)
    }
    if (template === 'ts' && !runsTypeScript) {
      io.print(`This Node (${process.versions.node}) does not run TypeScript. Use Node 24.`)
    }
    return exitCodes.ok
  },
}

const runsTypeScript = 'typescript' in process.features && process.features.typescript !== false

function templateIn(input: Input): Template {
  const wanted = input.text('template') ?? (runsTypeScript ? 'ts' : 'js')
  const found = templates.find((one) => one === wanted)
  if (found === undefined) throw new UsageError(`--template is ${templates.join(' or ')}`)
  return found
}

/** Nothing is overwritten. A directory with only a `.git` is empty. */
function expectEmpty(directory: string): void {
  if (!existsSync(directory)) return
  const entries = readdirSync(directory).filter((name) => name !== '.git')
  if (entries.length === 0) return
  throw new UsageError(`${directory} is not empty; give a new directory`)
}

function packageName(directory: string): string {
  const name = directory.toLowerCase().replaceAll(/[^a-z0-9._-]+/g, '-')
  return name.replace(/^[._-]+/, '') || 'my-agents'
}
