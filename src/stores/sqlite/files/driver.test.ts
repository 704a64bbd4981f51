import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { loadDriver, type Statement } from './driver.ts'

const open = await loadDriver()

function statementOfDroppedDatabase(): Statement {
  const db = open(':memory:')
  db.exec('CREATE TABLE t (n INTEGER)')
  db.exec('INSERT INTO t VALUES (1)')
  return db.prepare('SELECT n FROM t')
}

async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let round = 0; round < 3; round++) {
    collect()
    // Native objects are freed after the collection, in a later turn of the event loop.
    await turn()
  }
}

it('crashes no process when a statement is used after its database went out of scope', async () => {
  const statements = Array.from({ length: 20 }, statementOfDroppedDatabase)
  await collectGarbage()
  for (const statement of statements) expect(statement.get()).toEqual({ n: 1 })
})
