/** The files of a new project, by path. */
import { version } from '../../server/version.ts'

export function projectFiles(name: string): Readonly<Record<string, string>> {
  return {
    'package.json': `${JSON.stringify(packageJson(name), undefined, 2)}\n`,
    'agents.js': agents,
    'agents.test.js': test,
    Dockerfile: dockerfile,
    'compose.yaml': compose,
    '.dockerignore': 'node_modules\n.lull\n',
    '.gitignore': 'node_modules\n.lull\n',
    'README.md': readme(name),
  }
}

/** Lines of imports. They are made here, so that tools that read this file do not take them for its own. */
function imports(lines: readonly (readonly [what: string, from: string])[]): string {
  const quote = "'"
  return lines.map(([what, from]) => `import ${what} from ${quote}${from}${quote}`).join('\n')
}

function packageJson(name: string): object {
  return {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    engines: { node: '>=20.19' },
    scripts: { start: 'lull serve ./agents.js', test: 'node --test' },
    dependencies: { lull: `^${version}` },
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
# With a database, no data directory is needed for tasks; keys for receipts come from LULL_RECEIPT_KEY.
ENV HOST=0.0.0.0 LULL_DATA=/tmp/lull LULL_AUTH=keys
EXPOSE 8787
CMD ["npx", "lull", "serve", "./agents.js"]
`

const compose = `services:
  agents:
    build: .
    ports: ['8787:8787']
    environment:
      LULL_POSTGRES: postgres://lull:lull@db/lull
      LULL_RECEIPT_KEY: \${LULL_RECEIPT_KEY:?set it to a long random text}
    depends_on:
      db: { condition: service_healthy }
  db:
    image: postgres:17
    environment: { POSTGRES_USER: lull, POSTGRES_PASSWORD: lull, POSTGRES_DB: lull }
    volumes: ['db:/var/lib/postgresql/data']
    healthcheck:
      test: ['CMD', 'pg_isready', '-U', 'lull']
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

With PostgreSQL: \`LULL_RECEIPT_KEY=$(openssl rand -hex 32) docker compose up\`. Callers need a key there:
\`docker compose exec agents npx lull keys mint --tenant default --principal me --scopes tasks:read,tasks:write\`.
`
}
