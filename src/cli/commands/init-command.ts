/** `lull init`: a project that runs, with one agent, a test and what is needed to deploy it. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { type Command, exitCodes, UsageError } from '../command.ts'
import { dependencyOn, projectFiles } from '../init/project-files.ts'

export const init: Command = {
  name: 'init',
  args: '[dir]',
  about: 'Make a project with one agent, a test, a Dockerfile and a compose file',
  flags: {},
  examples: ['init my-agents', 'init .'],
  async run(input, io) {
    const [named = '.', ...more] = input.words
    if (more.length > 0) throw new UsageError('give one directory')
    const directory = resolve(named)
    expectEmpty(directory)
    const name = packageName(basename(directory))
    const lull = dependencyOn()
    const files = projectFiles(name, lull)
    for (const [path, text] of Object.entries(files)) {
      const file = join(directory, path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text, { flag: 'wx' })
    }
    if (input.has('json')) {
      io.print(JSON.stringify({ directory, files: Object.keys(files) }))
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
    if (lull.startsWith('file:')) {
      io.print(`package.json names this clone of Lull as "${lull}". The Dockerfile needs a version`)
      io.print('that npm can install from a registry in its place.')
    }
    return exitCodes.ok
  },
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
