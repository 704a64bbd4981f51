// Starts a build, stops until the build has ended, goes on by itself. Kill the process while it waits: nothing is lost.
//   npm run -s lull -- send http://127.0.0.1:8787 "main"
//   npm run -s lull -- events emit ci.build.completed --subject 42 --data '{"status": "passed"}'
import { agent, serve } from 'lull'

const releaser = agent({
  name: 'releaser',
  description: 'Builds a branch and releases it when the build has passed',
  async run(task) {
    // A step runs once. A real one would start the build here and return its id.
    const build = await task.step('start build', () => ({ id: 42, branch: task.text }))
    const wake = await task.park({
      reason: `waiting for build ${build.id}`,
      onEvent: `ci.build.completed:${build.id}`,
      timeout: { durationMinutes: 60, onTimeout: 'fail' },
    })
    const status = wake.event?.data?.status
    if (status !== 'passed') throw new Error(`build ${build.id} ended as ${status}`)
    return `Released ${build.branch}`
  },
})

await serve({ agents: [releaser] })
