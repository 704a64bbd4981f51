// Starts a build, waits for CI, asks for consent and deploys. Stop the program at any time and start it again.
//   npm run -s lull -- send http://127.0.0.1:8787 "Release main"
//   npm run -s lull -- events emit ci.build.completed --subject 42 --data '{"status": "passed"}'
//   npm run -s lull -- answer @last --grant
import { tool } from 'ai'
import { serve } from 'lull'
import { aiAgent, parkTool, toolContext } from 'lull/ai'
import { z } from 'zod'
import { model } from './ai/model.mjs'

const startBuild = tool({
  description: 'Starts a build of a branch. Its id is in the event ci.build.completed:<id>',
  inputSchema: z.object({ branch: z.string() }),
  // CI gets the same key in every attempt, so that a crash does not start two builds.
  execute: async ({ branch }, options) => ({
    id: 42,
    branch,
    key: toolContext(options).step.idempotencyKey,
  }),
})

const deploy = tool({
  description: 'Deploys a build to production',
  inputSchema: z.object({ build: z.number() }),
  needsApproval: true,
  execute: async ({ build }) => `build ${build} is in production`,
})

const releaser = aiAgent({
  name: 'releaser',
  description: 'Builds a branch, waits for CI and deploys it',
  system: 'Start the build, wait for its event with await_resumption, and deploy it if it passed.',
  model: model(
    [['start_build', { branch: 'main' }]],
    [['await_resumption', { reason: 'waiting for build 42', onEvent: 'ci.build.completed:42' }]],
    [['deploy', { build: 42 }]],
    'Build 42 is in production.',
  ),
  tools: { start_build: startBuild, await_resumption: parkTool, deploy },
  budget: { tokens: 100_000 },
})

await serve({ agents: [releaser] })
