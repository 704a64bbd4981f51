/** The page at `/`: the agents of the server, and how to call them. */
import { createHash } from 'node:crypto'
import type { Agent } from '../../engine/author/agent.ts'
import { version } from '../settings/version.ts'

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 46rem; margin: 3rem auto; padding: 0 1rem }
code, pre { font: 14px/1.5 ui-monospace, monospace }
pre { padding: 0.75rem 1rem; overflow-x: auto; border: 1px solid; border-radius: 6px }
dt { font-weight: 600; margin-top: 1rem }
dd { margin: 0 }
`

/**
 * The content security policy: the page loads and runs nothing; its only style sheet is allowed by
 * its hash.
 */
const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; frame-ancestors 'none'`

export function homePage(agents: readonly Agent[], url: string): Response {
  const list = agents.map(
    ({ name, description }) =>
      `<dt>${toHtml(name)}</dt><dd>${toHtml(description)}<br><code>${toHtml(`${url}/agents/${name}/`)}</code></dd>`,
  )
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Lull</title>
<style>${style}</style>
<h1>Lull</h1>
<p>Version ${toHtml(version)} is running. These agents speak A2A; the first one also answers at <code>${toHtml(url)}/</code>.</p>
<dl>${list.join('')}</dl>
<p>Say something:</p>
<pre>${toHtml(hello(url))}</pre>
<p><a href="/dashboard/">Dashboard</a> · <a href="/.well-known/agent-card.json">Agent card</a> · <a href="/healthz">Health</a> · <a href="/readyz">Readiness</a></p>
</html>
`
  return new Response(html, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    },
  })
}

function hello(url: string): string {
  const message = { messageId: '1', role: 'ROLE_USER', parts: [{ text: 'Hello' }] }
  const call = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }
  const headers = `-H 'content-type: application/json' -H 'a2a-version: 1.0'`
  return `curl -s ${url} ${headers} \\\n  -d '${JSON.stringify(call)}'`
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}

function toHtml(text: string): string {
  return text.replace(/[&<>"]/g, (one) => entities[one] ?? one)
}
