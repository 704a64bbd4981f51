/** The agents of the pictures: those of the demo, one with a timeline worth looking at, and one with a schedule. */
import { demoAgents } from '../dist/demo/demo-agents.js'
import { agent } from '../dist/index.js'

const lasts = (ms) => () => new Promise((resolve) => setTimeout(resolve, ms))

export const agents = [
  ...demoAgents,
  agent({
    name: 'release',
    description: 'Releases a version when its tests pass',
    async run(task) {
      await task.turn(async () => {
        await task.step('collect changes', lasts(400))
        await task.step('write notes', lasts(700))
        await task.usage({ inputTokens: 5_200, outputTokens: 900, costUsd: 0.0123 })
      })
      await task.ask({ text: 'Release 2.1 today?', choices: ['yes', 'no'] })
      await task.turn(async () => {
        await task.step('build', lasts(900))
        await task.usage({ inputTokens: 800, outputTokens: 100, costUsd: 0.0015 })
      })
      await task.park({ reason: 'tests run', onEvent: 'ci.tests.completed:77' })
      await task.turn(() => task.step('publish', lasts(500)))
      await task.park({
        reason: 'announced tomorrow',
        timeout: { durationMinutes: 900 },
      })
      return 'Released 2.1'
    },
  }),
  agent({
    name: 'digest',
    description: 'Sums up the day',
    schedule: [
      { name: 'nightly', cron: '0 3 * * *', message: 'Sum up the day' },
      { name: 'weekly', cron: '0 6 * * 1', message: 'Sum up the week', missed: 'run-once' },
    ],
    run: (task) => `Done: ${task.text}`,
  }),
  agent({
    name: 'indexer',
    description: 'Indexes a site',
    async run(task) {
      for (let page = 1; page <= 500; page++) {
        await task.progress(page / 500, `Page ${page} of 500`)
        await task.step('index page', lasts(1_000))
      }
      return 'All pages are indexed'
    },
  }),
]
