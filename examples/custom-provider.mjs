// A reminder provider of your own: it reminds a loop of what is left, before each turn.
//   npm run -s lull -- send http://127.0.0.1:8787 "three turns"
import { agent, serve } from 'lull'

const TURNS = 3

/** Is called when a turn starts. What it returns is shown to that turn. */
const turnsLeft = (input) =>
  input.type === 'turn-starting'
    ? {
        body: `${TURNS - input.turn + 1} turns are left. Come to an end in time.`,
        dedupeKey: 'turns-left',
        ttlTurns: 1,
      }
    : undefined

const looper = agent({
  name: 'looper',
  description: 'Works in turns, and knows how many are left',
  providers: { turnsLeft, idle: false },
  async run(task) {
    const seen = []
    for (let turn = 1; turn <= TURNS; turn++) {
      await task.turn(async (now) => {
        // A model would get `now.reminderBlock` with its prompt.
        seen.push(now.reminders.map(({ body }) => body[0]).join())
      })
    }
    return `Turns left: ${seen.join(', ')}`
  },
})

await serve({ agents: [looper] })
