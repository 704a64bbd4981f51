/** Agents for tests of the dashboard: one with a schedule, one that asks for all kinds of answers. */
import { z } from 'zod'
import { agent } from '../../dist/index.js'

const stay = z.object({
  city: z.string().meta({ title: 'Where to' }),
  nights: z.number().int(),
  spa: z.boolean(),
  room: z.enum(['single', 'double']).default('single'),
  note: z.string().optional(),
})

export const agents = [
  agent({
    name: 'booker',
    description: 'Asks for a stay and a colour',
    async run(task) {
      const wanted = await task.ask({ text: 'Which stay?', schema: stay })
      const colour = await task.ask({ text: 'Which colour?', choices: ['red', 'blue'] })
      const guests = await task.ask({ text: 'Who?', schema: z.array(z.string()) })
      const wake = await task.park({
        reason: 'waits for a word',
        input: z.object({ ok: z.boolean(), word: z.string() }),
      })
      const [stayed, painted, named] = [wanted.value, colour.value, guests.value]
      return JSON.stringify({ stayed, painted, named, input: wake.input })
    },
  }),
  agent({
    name: 'courier',
    description: 'Delivers to an address',
    input: z.object({ street: z.string(), express: z.boolean() }),
    run: (task) => `Delivered: ${JSON.stringify(task.input)}`,
  }),
  agent({
    name: 'digest',
    description: 'Sums up the year',
    schedule: [{ name: 'yearly', cron: '0 0 1 1 *', message: 'Sum up the year' }],
    run: (task) => `Did: ${task.text}`,
  }),
]
