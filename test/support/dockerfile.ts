/**
 * Executes the lines of a Dockerfile without a container: a stage is a directory, and the absolute paths that the file
 * names lie below it. What only a container has (the base image, the user, the network) is returned, and not tried.
 */
import { execFile } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'

const execute = promisify(execFile)

export interface BuiltImage {
  readonly from: string
  readonly user: string | undefined
  /** Where the commands run. */
  readonly directory: string
  readonly env: Readonly<Record<string, string>>
  readonly command: readonly string[]
  readonly health: readonly string[]
}

interface Stage extends BuiltImage {
  /** Holds what would be the root directory of the image. */
  readonly root: string
  user: string | undefined
  directory: string
  readonly env: Record<string, string>
  command: readonly string[]
  entry: readonly string[]
  health: readonly string[]
  /** The absolute paths that the Dockerfile has named so far. */
  readonly paths: string[]
}

export interface ToBuild {
  readonly dockerfile: string
  /** The directory that is sent to the build. */
  readonly context: string
  /** An empty directory. */
  readonly target: string
  readonly env: NodeJS.ProcessEnv
}

export async function buildImage({
  dockerfile,
  context,
  target,
  env,
}: ToBuild): Promise<BuiltImage> {
  const stages = new Map<string, Stage>()
  const bin = shims(join(target, 'bin'))
  let stage: Stage | undefined
  const words = (text: string): readonly string[] => text.trim().split(/\s+/)
  const inStage = (work: (at: Stage, text: string) => void | Promise<void>) => (text: string) => {
    if (stage === undefined) throw new Error('no FROM')
    return work(stage, text)
  }
  const ignored = (): void => {}

  const instructions: Readonly<Record<string, (text: string) => void | Promise<void>>> = {
    FROM(text) {
      const [from = '', , name = `${stages.size}`] = words(text)
      const root = join(target, `stage-${name}`)
      mkdirSync(root)
      stage = {
        from,
        root,
        user: undefined,
        directory: root,
        env: {},
        command: [],
        entry: [],
        health: [],
        paths: [],
      }
      stages.set(name, stage)
    },
    WORKDIR: inStage((at, path) => {
      at.paths.push(path)
      at.directory = join(at.root, path)
      mkdirSync(at.directory, { recursive: true })
    }),
    ENV: inStage((at, text) => {
      for (const pair of words(text)) {
        const [name = '', value = ''] = pair.split('=')
        if (value.startsWith('/')) at.paths.push(value)
        at.env[name] = value.startsWith('/') ? join(at.root, value) : value
      }
    }),
    COPY: inStage((at, text) => {
      const [first = '', ...rest] = words(text)
      const source = /^--from=(.*)$/.exec(first)?.[1]
      const given = source === undefined ? [first, ...rest] : rest
      const to = given.at(-1) ?? ''
      const from = source === undefined ? context : (stages.get(source)?.root ?? '')
      const destination = to.startsWith('/') ? join(at.root, to) : join(at.directory, to)
      for (const path of given.slice(0, -1)) copyMatching(from, path, destination, to.endsWith('/'))
    }),
    RUN: inStage(async (at, text) => {
      const known = [...new Set([...at.paths, ...absoluteIn(text)])]
      const command = known.reduce(
        (all, path) => all.replaceAll(new RegExp(`(?<=^|\\s)${path}`, 'g'), join(at.root, path)),
        text,
      )
      const PATH = `${bin}:${process.env['PATH']}`
      await execute('sh', ['-ec', command], {
        cwd: at.directory,
        env: { ...env, ...at.env, PATH },
      })
    }),
    USER: inStage((at, user) => {
      at.user = user
    }),
    CMD: inStage((at, text) => {
      at.command = JSON.parse(text)
    }),
    ENTRYPOINT: inStage((at, text) => {
      at.entry = JSON.parse(text)
    }),
    HEALTHCHECK: inStage((at, text) => {
      at.health = JSON.parse(text.slice(text.indexOf('[')))
    }),
    EXPOSE: ignored,
    LABEL: ignored,
  }
  for (const line of linesOf(dockerfile)) {
    const [name = ''] = line.split(' ')
    const instruction = instructions[name]
    if (instruction === undefined) throw new Error(`unknown instruction: ${line}`)
    await instruction(line.slice(name.length).trim())
  }
  if (stage === undefined) throw new Error('no FROM')
  return { ...stage, command: [...stage.entry, ...stage.command] }
}

function linesOf(dockerfile: string): readonly string[] {
  const whole = dockerfile.replace(/^#.*\n/gm, '').replaceAll(/\\\n\s*/g, '')
  return whole.split('\n').filter((line) => line.trim() !== '')
}

/** The user of an image does not exist here. */
function shims(directory: string): string {
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'chown'), '#!/bin/sh\n')
  chmodSync(join(directory, 'chown'), 0o755)
  return directory
}

const absoluteIn = (command: string): readonly string[] =>
  [...command.matchAll(/(?<=\s)\/\w+/g)].map(([path]) => path)

/** The contents of a directory, or files that a name with `*` matches. Without `.dockerignore`'s entries of the first level. */
function copyMatching(from: string, path: string, to: string, intoDirectory: boolean): void {
  const list = join(from, '.dockerignore')
  const ignored = existsSync(list) ? readFileSync(list, 'utf8').trim().split('\n') : []
  const source = join(from, path)
  if (existsSync(source)) {
    const inside = intoDirectory && !path.endsWith('.') && statSync(source).isFile()
    const target = inside ? join(to, basename(source)) : to
    const filter = (file: string): boolean =>
      !ignored.includes(file.slice(from.length).replace(/^\//, ''))
    mkdirSync(dirname(target), { recursive: true })
    cpSync(source, target, { recursive: true, filter })
    return
  }
  const pattern = new RegExp(`^${basename(path).replaceAll('.', '\\.').replaceAll('*', '.*')}$`)
  const found = readdirSync(dirname(source)).filter((name) => pattern.test(name))
  if (found.length === 0) throw new Error(`COPY finds no ${path}`)
  mkdirSync(to, { recursive: true })
  for (const name of found) cpSync(join(dirname(source), name), join(to, name))
}
