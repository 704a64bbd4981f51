/** The files of a new project, by path. */
import { fileURLToPath } from 'node:url'
import { version } from '../../server/settings/version.ts'

const running = fileURLToPath(new URL('../../../', import.meta.url)).replace(/[\\/]$/, '')

/**
 * The dependency on Lull. An installed package names its version. A clone names itself, because its version need not be
 * published.
 * @param folder of the package that runs
 */
export function dependencyOn(folder: string = running): string {
  return /[\\/]node_modules[\\/]/.test(folder) ? `^${version}` : `file:${folder}`
}

export function projectFiles(name: string, lull: string): Readonly<Record<string, string>> {
  return {
    'package.json': `${JSON.stringify(packageJson(name, lull), undefined, 2)}\n`,
    'agents.js': agents,
    'agents.test.js': test,
    Dockerfile: dockerfile,
    'compose.yaml': compose,
    '.dockerignore': 'node_modules\n.lull\n',
    '.gitignore': 'node_modules\n.lull\n',
    'README.md': readme(name),
  }
}

/** Builds lines of imports, so that tools do not take them for imports of this file. */
function imports(lines: readonly (readonly [what: string, from: string])[]): string {
  const quote = "'"
  return lines.map(([what, from]) => `import ${what} from ${quote}${from}${quote}`).join('\n')
}

function packageJson(name: string, lull: string): object {
  return {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    engines: { node: '>=20.19' },
    scripts: { start: 'lull serve ./agents.js', test: 'node --test' },
    dependencies: { lull },
    // npm asks about the script of the package for SQLite on Node 20. It only looks for the file that comes with the package.
    allowScripts: { '@photostructure/sqlite': true },
  }
}

const agents = `${imports([['{ agent }', 'lull']])}

export const reviewer = agent({
  name: 'reviewer',
  description: 'Writes a draft, waits for an approval, and publishes',
  async run(task) {
    // A step runs once, also when the process is killed afterwards.
    const draft = await task.step('write', () => \`Draft about \${task.text}\`)
    await task.artifact({ name: 'draft.txt', text: draft })

    const { value } = await task.ask({
      text: 'Publish the draft?',
      choices: ['publish', 'discard'],
      expiresInMs: '7 days',
    })
    if (value === 'discard') return 'Discarded'

    await task.step('publish', ({ idempotencyKey }) => \`published as \${idempotencyKey}\`)
    return 'Published'
  },
})

export default [reviewer]
`

const test = `${imports([
  ['assert', 'node:assert/strict'],
  ['{ test }', 'node:test'],
  ['{ testEngine }', 'lull/testing'],
  ['{ reviewer }', './agents.js'],
])}

test('publishes after an approval, also when the process died meanwhile', async () => {
  const engine = await testEngine({ agents: [reviewer] })
  const { id } = await engine.send('the sea')
  await engine.until(id, 'input-required')
  await engine.crash()
  await engine.answer(id, 'publish')
  const { statusMessage } = await engine.until(id, 'completed')
  assert.deepEqual(statusMessage.parts, [{ text: 'Published' }])
  await engine.replay(id)
  await engine.close()
})

test('fails when there is no answer for a week', async () => {
  const engine = await testEngine({ agents: [reviewer] })
  const { id } = await engine.send('the sea')
  await engine.until(id, 'input-required')
  await engine.advance('7 days')
  await engine.until(id, 'failed')
  await engine.close()
})
`

const dockerfile = `FROM node:22-slim
WORKDIR /app
COPY package*.json ./
RUN npm install --omit=dev
COPY . .
USER node
# The database keeps tasks and keys. The data directory needs no volume.
ENV HOST=0.0.0.0 LULL_DATA=/tmp/lull LULL_AUTH=keys
EXPOSE 8787
CMD ["node_modules/.bin/lull", "serve", "./agents.js"]
`

const compose = `services:
  agents:
    build: .
    ports: ['8787:8787']
    environment:
      LULL_POSTGRES: postgres://lull:lull@db/lull
      LULL_PUBLIC_URL: \${LULL_PUBLIC_URL:-http://localhost:8787}
    stop_grace_period: 30s
    restart: unless-stopped
    depends_on:
      db: { condition: service_healthy }
  db:
    image: postgres:17
    restart: unless-stopped
    environment: { POSTGRES_USER: lull, POSTGRES_PASSWORD: lull, POSTGRES_DB: lull }
    volumes: ['db:/var/lib/postgresql/data']
    healthcheck:
      # Over TCP, because the server that only prepares the database listens on no port.
      test: ['CMD', 'pg_isready', '-h', '127.0.0.1', '-U', 'lull']
      interval: 2s
      retries: 30
volumes:
  db: {}
`

function readme(name: string): string {
  return `# ${name}

\`\`\`sh
npm install
npm test
npm start
\`\`\`

In another terminal:

\`\`\`sh
npx lull send http://127.0.0.1:8787 "the sea"
npx lull answer @last publish
\`\`\`

With PostgreSQL: \`docker compose up\`. Where clients use another address than http://localhost:8787, set \`LULL_PUBLIC_URL\`. Callers need a key there:
\`docker compose exec agents npx lull keys mint --tenant default --principal me --scopes tasks:read,tasks:write\`.
Give it to commands as \`LULL_TOKEN\`, and to other clients as the header \`Authorization: Bearer …\`.
`
}
