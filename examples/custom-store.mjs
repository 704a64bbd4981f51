// A store of your own: here one that wraps the store in memory and counts what is written. `describeStoreContract` of
// `lull/testing` says whether a store keeps all the promises.
import { agent, openEngine } from 'lull'
import { createMemoryStore } from 'lull/engine'

/** Writes to another store, and tells how many records each commit has. */
function countingStore(store, told) {
  return {
    ...store,
    async commit(batch) {
      const results = await store.commit(batch)
      const written = batch.filter((_, index) => results[index].status === 'written')
      told(written.reduce((sum, { records }) => sum + records.length, 0))
      return results
    },
  }
}

let records = 0
const store = countingStore(createMemoryStore(), (count) => {
  records += count
})
const greeter = agent({
  name: 'greeter',
  description: 'Greets',
  run: (task) => task.step('greet', () => `Hello, ${task.text}!`),
})

const { engine, close } = await openEngine({ agents: [greeter], store })
const ann = { tenant: 'default', principal: 'ann' }
const sent = await engine.send(ann, {
  message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'Ann' }] },
})
const done = await engine.waitFor(ann, sent.task.id, ({ state }) => state === 'completed')
console.log(`${done.statusMessage.parts[0].text} It took ${records} records.`)
await close()
