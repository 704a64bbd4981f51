/** The files of a new project, by path. They are made from `templates/` of the package. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const templates = ['ts', 'js'] as const
export type Template = (typeof templates)[number]

export interface Project {
  readonly directory: string
  /** The name of its package. */
  readonly name: string
  readonly template: Template
  /** What its package.json says for `lull`: a version, or a packed file in `vendor/`. */
  readonly lull: string
}

/** The only agent file. JavaScript projects get it under the other ending: it has no type annotation. */
const agentFile: Readonly<Record<Template, string>> = { ts: 'agents.ts', js: 'agents.js' }

export function projectFiles(project: Project): Readonly<Record<string, string>> {
  const { name, template, lull } = project
  const read = (path: string): string => {
    const text = readFileSync(new URL(`../../../templates/${path}`, import.meta.url), 'utf8')
    return text.replaceAll('agents.ts', agentFile[template])
  }
  const dockerfile = read('Dockerfile')
  return {
    'package.json': json(packageJson(name, template, lull)),
    [agentFile[template]]: read('agents.ts'),
    [`agents.test.${template}`]: read('agents.test.ts'),
    ...(template === 'ts' ? { 'tsconfig.json': read('tsconfig.json') } : {}),
    'AGENTS.md': read('AGENTS.md').replace('agents.test.ts', `agents.test.${template}`),
    'README.md': read('README.md').replace('NAME', name),
    'acp.json': json(editorSettings(project)),
    Dockerfile: lull.startsWith('file:') ? dockerfile : dockerfile.replace(/^COPY vendor.*\n/m, ''),
    'compose.yaml': read('compose.yaml'),
    // npm leaves files with these names out of a package, or reads them itself.
    '.dockerignore': read('dockerignore'),
    '.gitignore': read('gitignore'),
  }
}

const json = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`

function packageJson(name: string, template: Template, lull: string): object {
  const common = {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    // From Node 22.18 on, Node runs TypeScript as it is.
    engines: { node: template === 'ts' ? '>=22.18' : '>=20.19' },
  }
  const start = `lull serve ./${agentFile[template]}`
  const test = `node --test agents.test.${template}`
  const types = { typescript: '^7.0.0', '@types/node': '^24.0.0' }
  return {
    ...common,
    scripts: template === 'ts' ? { start, test: `tsc && ${test}` } : { start, test },
    dependencies: { lull },
    ...(template === 'ts' ? { devDependencies: types } : {}),
    // npm asks about the script of the package for SQLite on Node 20. It only looks for the file that comes with the package.
    allowScripts: { '@photostructure/sqlite': true },
  }
}

/** What editors that speak ACP ask for. An editor starts the command in a directory of its own, so the paths are whole. */
function editorSettings({ name, directory, template }: Project): object {
  const main = join(directory, 'node_modules', 'lull', 'dist', 'cli', 'main.js')
  const agents = join(directory, agentFile[template])
  const args = [main, 'acp', agents, '--data', join(directory, '.lull')]
  return { agent_servers: { [name]: { command: 'node', args } } }
}
