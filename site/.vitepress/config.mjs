/** The site of the documentation. No page asks anything from elsewhere: fonts are the system's, the search is local. */
import { readFileSync } from 'node:fs'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
const page = (text, link) => ({ text, link })

// biome-ignore lint/style/noDefaultExport: VitePress reads the default export
export default {
  title: 'Lull',
  description: 'A runtime for AI-agent tasks that can stop without losing their place',
  srcDir: 'pages',
  outDir: 'dist',
  cleanUrls: true,
  themeConfig: {
    search: { provider: 'local' },
    nav: [
      page('Start', '/docs/start'),
      page('Agents', '/docs/agents'),
      page('Operate', '/docs/configuration'),
      page('Reference', '/reference/commands'),
      page(version, '/CHANGELOG'),
    ],
    sidebar: [
      {
        text: 'Start',
        items: [
          page('Five minutes', '/docs/start'),
          page('Tour of the demo', '/docs/tour'),
          page('Concepts', '/docs/concepts'),
          page('Glossary', '/docs/glossary'),
        ],
      },
      {
        text: 'Guides',
        items: [
          page('Pause for a review', '/docs/guides/pause-for-review'),
          page('Wait for a build', '/docs/guides/wait-for-ci'),
          page('Start on a schedule', '/docs/guides/schedule'),
          page('Budgets and rules', '/docs/guides/budgets'),
          page('Ask, and ask for consent', '/docs/guides/ask-and-consent'),
          page('Remind a running agent', '/docs/guides/reminders'),
          page('Stream text', '/docs/guides/stream-text'),
          page('Use an agent in an editor', '/docs/guides/editors'),
          page('Run several processes', '/docs/guides/cluster'),
          page('Open a server to others', '/docs/guides/security'),
          page('Run it in containers', '/docs/guides/containers'),
          page('Watch a server', '/docs/guides/observability'),
          page('Deploy changed code', '/docs/guides/deploy-changed-code'),
          page('Prove what happened', '/docs/guides/receipts'),
          page('A task does not move', '/docs/guides/task-does-not-move'),
        ],
      },
      {
        text: 'Write agents',
        items: [
          page('Agents', '/docs/agents'),
          page('Guide for authors', '/docs/authors'),
          page('Models and tools', '/docs/ai'),
          page('Events', '/docs/events'),
          page('Reminders', '/docs/reminders'),
          page('Client', '/docs/client'),
          page('Embedding', '/docs/embedding'),
          page('Examples', '/examples/'),
        ],
      },
      {
        text: 'Operate',
        items: [
          page('Configuration', '/docs/configuration'),
          page('Dashboard and holds', '/docs/dashboard'),
          page('Security', '/docs/security'),
          page('Watching a server', '/docs/observability'),
          page('Many processes', '/docs/scale'),
        ],
      },
      {
        text: 'Protocols',
        items: [
          page('A2A extensions', '/spec/README'),
          page('ACP and editors', '/docs/acp'),
          page('Bindu', '/docs/bindu'),
        ],
      },
      {
        text: 'Reference',
        items: [
          page('Commands', '/reference/commands'),
          page('Operations over HTTP', '/reference/ops'),
          page('Types', '/reference/types/list'),
          page('Settings', '/reference/configuration'),
          page('Errors', '/docs/errors'),
          page('Architecture', '/docs/architecture'),
        ],
      },
      {
        text: 'Evidence',
        items: [
          page('Promises and proofs', '/docs/evidence/seeds'),
          page('ACP: promises and clients', '/docs/evidence/acp'),
          page('Clients of others', '/docs/interop'),
          page('Clients of others: reports', '/docs/evidence/interop'),
          page('Conformance', '/docs/conformance'),
          page('Benchmarks', '/docs/benchmarks'),
          page('Several processes, by hand', '/docs/evidence/scale'),
          page('Overload', '/docs/evidence/security'),
        ],
      },
      {
        text: 'Compare',
        items: [
          page('Beside others', '/docs/comparison'),
          page('From @a2a-js/sdk', '/docs/coming-from/a2a-js'),
          page('From Bindu', '/docs/bindu'),
          page('From Harn', '/docs/coming-from/harn'),
          page('From Temporal', '/docs/coming-from/temporal'),
          page('From LangGraph', '/docs/coming-from/langgraph'),
        ],
      },
    ],
  },
}
