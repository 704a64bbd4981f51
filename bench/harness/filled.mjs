/** A million tasks take minutes to write, so the file is kept between runs, for as long as its format holds. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createBuilder } from './fill.mjs'
import { dist } from './lull.mjs'
import { parkedLife } from './parked.mjs'
import { cache } from './places.mjs'
import { greeting } from './requests.mjs'
import { startSubject } from './subject.mjs'

const YEAR_MINUTES = 525_600

/** Far enough that none falls due, and each at another instant, so that the index of due times is as large as it gets. */
export const farTimeout = (number) => ({ durationMinutes: YEAR_MINUTES + number / 1_000 })

/** A data directory with so many tasks, `parked` or `completed`. Whoever writes to it puts it back as it was. */
export async function filledDirectory(kind, count) {
  const path = join(cache, `${kind}-${count}-${await format(await lives[kind]())}`)
  if (existsSync(path)) return path
  mkdirSync(cache, { recursive: true })
  for (const other of readdirSync(cache)) {
    if (other.startsWith(`${kind}-${count}-`)) rmSync(join(cache, other), { recursive: true })
  }
  const next = join(cache, `filling-${process.pid}`)
  await (await startFill({ path: next, kind, count })).close()
  renameSync(next, path)
  return path
}

/** Resolves when the directory is full. `ask('ids')` gives the ids of its tasks. */
export const startFill = (params) => startSubject('subjects/fill.mjs', params)

/** One artifact and done, as the HTTP rows' agent does it. */
const completedLife = {
  agent: 'greeter',
  ended: true,
  commands(_number, { token, ids }) {
    const artifact = { artifactId: ids.uuid(), name: 'greeting', parts: [{ text: greeting }] }
    const key = 'artifact:greeting#1'
    return [
      {
        type: 'record',
        run: token,
        records: [{ type: 'artifact', key, artifact, append: false, last: true }],
      },
      { type: 'complete', run: token },
    ]
  },
}

export const lives = {
  parked: () => parkedLife(farTimeout),
  completed: async () => completedLife,
}

/** What is in the file, and how it lies there: a sample of the commits, the schema, and the code that writes them. */
async function format(life) {
  let minted = 0
  const ids = { uuid: () => `id-${minted++}` }
  const commitOf = await createBuilder({ life, at: 0, ids })
  const hash = createHash('sha256').update(JSON.stringify([commitOf(0), commitOf(1)]))
  const store = join(dist, 'stores/sqlite')
  const migrations = readdirSync(join(store, 'migrations')).map((file) => `migrations/${file}`)
  for (const file of ['tasks/apply.js', 'tasks/waits.js', 'text.js', ...migrations.sort()]) {
    hash.update(readFileSync(join(store, file)))
  }
  return hash.digest('hex').slice(0, 12)
}
