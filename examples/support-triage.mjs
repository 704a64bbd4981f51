// Sorts a ticket, asks a person what to do, and pays money back only with consent.
//   npm run -s lull -- send http://127.0.0.1:8787 '{"customer": "ann", "text": "I was charged twice", "amount": 20}'
//   npm run -s lull -- answer @last refund
//   npm run -s lull -- answer @last --grant
import { generateText } from 'ai'
import { agent, serve } from 'lull'
import { durableModel } from 'lull/ai'
import { z } from 'zod'
import { model } from './ai/model.mjs'

const triage = agent({
  name: 'triage',
  description: 'Handles support tickets',
  // A ticket that is not of this shape is refused, with the path of what is wrong.
  input: z.object({ customer: z.string(), text: z.string(), amount: z.number().positive() }),
  async run(task) {
    const { customer, text, amount } = task.input
    const { text: kind } = await generateText({
      model: durableModel(task, model('billing')),
      prompt: `Is this ticket about billing, a fault or something else? Answer with one word.\n${text}`,
    })
    const { value: action } = await task.ask({
      text: `${customer} wrote about ${kind}: "${text}". What shall I do?`,
      choices: [{ value: 'refund', label: `Refund ${amount}` }, 'reply', 'close'],
      expiresInMs: '3 days',
    })
    if (action !== 'refund') return `Ticket of ${customer}: ${action}`
    const operation = { refund: amount, to: customer }
    await task.requireConsent({ prompt: `Pay ${amount} back to ${customer}?`, operation })
    // The key is the same for every attempt, so a payment service pays once.
    const receipt = await task.step('refund', ({ idempotencyKey }) => idempotencyKey.slice(0, 8))
    return `Refunded ${amount} to ${customer}, receipt ${receipt}`
  },
})

await serve({ agents: [triage] })
