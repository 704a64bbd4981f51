// An editor gives questions to two researchers at the same time. One of them looks things up with an MCP server.
//   npm run -s lull -- send http://127.0.0.1:8787 "What do Lull and the sea have in common?" --stream
import { fileURLToPath } from 'node:url'
import { serve } from 'lull'
import { aiAgent, delegateTool } from 'lull/ai'
import { model } from './ai/model.mjs'

const factsServer = fileURLToPath(new URL('./ai/facts-server.mjs', import.meta.url))

const reader = aiAgent({
  name: 'reader',
  description: 'Looks words up',
  model: model([['facts_look_up', { word: 'lull' }]], 'Lull keeps tasks, says the lexicon.'),
  mcp: { facts: { command: process.execPath, args: [factsServer] } },
})

const thinker = aiAgent({
  name: 'thinker',
  description: 'Thinks without looking anything up',
  model: model('The sea is wide, and it waits.'),
})

const editor = aiAgent({
  name: 'editor',
  description: 'Answers a question with the help of researchers',
  system: 'Ask both researchers, then write one short answer.',
  model: model(
    [
      ['delegate', { agent: 'reader', message: 'What is Lull?' }],
      ['delegate', { agent: 'thinker', message: 'What is the sea?' }],
    ],
    'Both can wait without losing anything.',
  ),
  tools: { delegate: delegateTool({ reader: 'looks words up', thinker: 'thinks' }) },
})

await serve({ agents: [editor, reader, thinker] })
