/** The thread that writes: the only connection of the process that does. Started by `writer.ts`. */
import { parentPort, workerData } from 'node:worker_threads'
import { loadDriver } from '../driver.ts'
import { toStoreError } from '../failures.ts'
import { openDatabase } from '../open-database.ts'
import { type StoreOn, storeOn } from '../store-on.ts'
import { type Answer, type Call, sent, thrown, type WriterData } from './messages.ts'
import { unpack } from './parcel.ts'
import { createTurnstile } from './turnstile.ts'

const port = parentPort
if (port === null) throw new Error('this file is the entry of a thread')
const say = (answer: Answer): void => port.postMessage(answer)

async function open(): Promise<StoreOn> {
  const { file, ...options } = workerData as WriterData
  return storeOn(openDatabase(await loadDriver(), file, options), () => undefined)
}

async function answerTo(store: StoreOn, call: Call): Promise<Answer> {
  try {
    if ('write' in call) return { value: sent(await store.write(unpack(call.write))) }
    const method = store[call.method] as (...args: readonly unknown[]) => Promise<unknown>
    return { value: await method(...call.args) }
  } catch (error) {
    return { error: thrown(error) }
  }
}

try {
  const store = await open()
  // One after the other: a call does not begin before the one before it is answered.
  let last = Promise.resolve()
  const turnstile = createTurnstile((workerData as WriterData).turnstile)
  port.on('message', (call: Call) => {
    last = last.then(async () => {
      if (!turnstile.enter()) return
      const answer = await answerTo(store, call)
      turnstile.leave()
      say(answer)
      if ('method' in call && call.method === 'close') port.close()
    })
  })
  say({ opened: true })
} catch (error) {
  say({ error: thrown(toStoreError(error)) })
  port.close()
}
