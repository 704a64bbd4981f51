/**
 * The script agent, with gates in place of time: `{"step": "build", "ms": 7}` takes until the file `7` is in the directory
 * `LULL_GATES` names. So tests decide when a step ends, and no machine is too slow for them.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { createScriptAgent } from '../../../dist/testing/index.js'

const gates = {
  now: Date.now,
  after(ms, callback) {
    const file = join(process.env.LULL_GATES ?? '.', String(ms))
    const timer = setInterval(() => {
      if (!existsSync(file)) return
      clearInterval(timer)
      callback()
    }, 10)
    timer.unref()
    return () => clearInterval(timer)
  },
}

export const agents = [createScriptAgent({ clock: gates })]
