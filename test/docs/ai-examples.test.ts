/** The agents of docs/ai.md run, with a mock model in place of the provider. The tests that the pages for authors show pass. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { MockLanguageModelV3, MockProviderV3 } from 'ai/test'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { documents, root } from './documents.ts'

const directory = join(root, 'node_modules', '.cache', 'ai-examples')
beforeAll(() => mkdirSync(directory, { recursive: true }))
afterAll(() => rmSync(directory, { recursive: true }))

type Content = Awaited<ReturnType<MockLanguageModelV3['doGenerate']>>['content']

const call = (toolName: string, input: object): Content => [
  { type: 'tool-call', toolCallId: toolName, toolName, input: JSON.stringify(input) },
]

/** What the model answers, by the agent that asks, turn by turn. */
const scripts: Readonly<Record<string, readonly Content[]>> = {
  guide: [call('weather', { city: 'Rome' }), [{ type: 'text', text: 'Sunny in Rome.' }]],
  releaser: [call('deploy', { environment: 'test' }), [{ type: 'text', text: 'Deployed.' }]],
  'own-loop': [call('weather', { city: 'Oslo' }), [{ type: 'text', text: 'Sunny in Oslo.' }]],
}

function modelOf(script: readonly Content[]): MockLanguageModelV3 {
  const answer = (turn: number) => ({
    content: script[turn] ?? [],
    finishReason: { unified: 'stop' as const, raw: undefined },
    usage: {
      inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 1, text: 1, reasoning: 0 },
    },
    warnings: [],
  })
  const turnOf = (prompt: readonly { readonly role: string }[]): number =>
    prompt.filter(({ role }) => role === 'assistant').length
  return new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => answer(turnOf(prompt)),
    doStream: async ({ prompt }) => {
      const { content, finishReason, usage } = answer(turnOf(prompt))
      return {
        stream: new ReadableStream({
          start(controller) {
            for (const part of content) {
              if (part.type === 'text') {
                controller.enqueue({ type: 'text-delta', id: '1', delta: part.text })
              } else if (part.type === 'tool-call') controller.enqueue(part)
            }
            controller.enqueue({ type: 'finish', finishReason, usage })
            controller.close()
          },
        }),
      }
    },
  })
}

const agentsIn = documents()
  .filter(({ path }) => path === 'docs/ai.md')
  .flatMap(({ blocks }) => blocks)
  .flatMap(({ language, text }) => {
    const [, name] = /name: '([\w-]+)'/.exec(text) ?? []
    // The MCP servers of the librarian do not exist, and a program that serves does not end. `examples.test.ts` compiles them.
    const runs = language === 'ts' && text.includes('export default') && name !== 'librarian'
    return runs && name !== undefined ? [[name, text] as const] : []
  })

/** The address of an entry of the package. */
const built = (entry: string): string => pathToFileURL(join(root, 'dist', entry, 'index.js')).href

/** Returns the address of the module. */
function written(name: string, text: string): string {
  const file = join(directory, `${name}.mjs`)
  const linked = text.replace(/'lull(?:\/(\w+))?'/g, (_, entry = '') => `'${built(entry)}'`)
  writeFileSync(file, linked)
  return pathToFileURL(file).href
}

it.each(['docs/ai.md', 'docs/authors.md'])('the test that %s shows passes', async (page) => {
  const { blocks } = documents().find(({ path }) => path === page) ?? { blocks: [] }
  const tests = blocks.filter(({ text }) => text.includes("from 'lull/testing'"))
  expect(tests).toHaveLength(1)
  await import(written(page.replace(/\W/g, '-'), tests[0]?.text ?? ''))
})

it.each(agentsIn)('docs/ai.md: %s', async (name, text) => {
  const script = scripts[name]
  expect(script).toBeDefined()
  const file = written(name, text)
  const languageModels = { 'openai/gpt-5-mini': modelOf(script ?? []) }
  Object.assign(globalThis, { AI_SDK_DEFAULT_PROVIDER: new MockProviderV3({ languageModels }) })
  const { openEngine } = await import(built(''))
  const { default: agent } = await import(file)
  const { engine, close } = await openEngine({ agents: [agent], store: 'memory', log: () => {} })
  const ann = { tenant: 'default', principal: 'ann' }
  const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'Hello' }] }
  const { task } = await engine.send(ann, { message })
  const done = await engine.waitFor(ann, task.id, ({ state }: { state: string }) =>
    /completed|failed|rejected|required/.test(state),
  )
  expect(done.state).toBe('completed')
  const [last] = script?.at(-1) ?? []
  expect(JSON.stringify(done)).toContain(last?.type === 'text' ? last.text : 'no text')
  await close()
})
