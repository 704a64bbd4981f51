/**
 * Where a new project gets Lull from: the registry, or a packed file that is copied into the project. The file is copied,
 * so that the project installs on another machine and in its own Dockerfile.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { StartError } from '../../server/process/start-error.ts'
import { version } from '../../server/settings/version.ts'
import { UsageError } from '../command.ts'

const running = fileURLToPath(new URL('../../../', import.meta.url)).replace(/[\\/]$/, '')

/**
 * Copies the package into the project if no registry has it.
 * @param from a packed file, or a directory of the package
 * @returns the dependency for package.json
 */
export function provideLull(project: string, from: string | undefined): string {
  const source = from === undefined ? unpublished(running) : resolve(from)
  if (source === undefined) return `^${version}`
  if (!existsSync(source)) throw new UsageError(`there is no file or directory ${source}`)
  const vendor = join(project, 'vendor')
  mkdirSync(vendor, { recursive: true })
  return `file:vendor/${statSync(source).isDirectory() ? pack(source, vendor) : copy(source, vendor)}`
}

/**
 * The package that runs, if npm would not find it in a registry: a clone, or a package that was installed from a file.
 * @param folder of the package
 */
export function unpublished(folder: string): string | undefined {
  const modules = dirname(folder)
  if (basename(modules) !== 'node_modules') return folder
  const record = join(modules, '.package-lock.json')
  if (!existsSync(record)) return undefined
  const { packages } = JSON.parse(readFileSync(record, 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly resolved?: string } | undefined>>
  }
  const resolved = packages['node_modules/lull']?.resolved
  return resolved?.startsWith('file:') === true ? folder : undefined
}

function copy(file: string, vendor: string): string {
  if (!file.endsWith('.tgz')) throw new UsageError(`${file} is not a packed package (.tgz)`)
  copyFileSync(file, join(vendor, basename(file)))
  return basename(file)
}

function pack(folder: string, vendor: string): string {
  const args = ['pack', folder, '--ignore-scripts', '--json', '--pack-destination', vendor]
  try {
    const windows = process.platform === 'win32'
    const said = execFileSync('npm', args, { cwd: folder, encoding: 'utf8', shell: windows })
    const [packed] = Object.values(JSON.parse(said) as object) as { readonly filename: string }[]
    if (packed !== undefined) return basename(packed.filename)
  } catch (cause) {
    throw new StartError(`npm pack failed in ${folder}`, { cause })
  }
  throw new StartError(`npm pack made no file of ${folder}`)
}
