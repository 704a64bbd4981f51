/** The list of pages, as docs/README.md has it. The side bar and llms.txt are made of it. */
import { readFileSync } from 'node:fs'

const index = readFileSync(new URL('../docs/README.md', import.meta.url), 'utf8')

/** `[{ text, items: [{ text, path, question }] }]`; a path is that of the file in the repository. */
export function contents() {
  const [, ...groups] = index.split(/^## /m)
  return groups.map((group) => ({
    text: group.slice(0, group.indexOf('\n')),
    items: [...group.matchAll(/^- \[([^\]]+)\]\(([^)]+)\): (.*)$/gm)].map(
      ([, text, path, question]) => ({ text, path: `docs/${path}`, question }),
    ),
  }))
}

/** The index for coding agents (llmstxt.org): every page as Markdown. */
export function llmsText(version) {
  const groups = contents().map(({ text, items }) => {
    const lines = items.map((item) => `- [${item.text}](/${item.path}): ${item.question}`)
    return `## ${text}\n\n${lines.join('\n')}\n`
  })
  return `# Lull ${version}

> Lull runs AI-agent tasks that can stop for days without losing their place. An agent is a TypeScript function. It waits for an event, a time, an answer or a consent, and goes on after kill -9 or a new deployment.

Every page of this site is also Markdown: its address with \`.md\`. The npm package has these pages in \`node_modules/lull/docs\`.

${groups.join('\n')}
## Reference

- [Commands](/reference/commands.md): what does each command take?
- [Operations over HTTP](/reference/ops.md): what does \`/ops\` answer?
- [Settings](/reference/configuration.md): what is each setting, and its default?
- [Types](/reference/types/list.md): what does each entry of the package export?
`
}
