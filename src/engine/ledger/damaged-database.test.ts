/** A database of which somebody overwrote a few bytes. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { loadDriver } from '../../stores/sqlite/files/driver.ts'
import { createSqliteStore } from '../../stores/sqlite/sqlite-store.ts'
import { alice, createHarness, running } from '../test-support/engine-harness.ts'

const parks = running(async (task) => {
  await task.park({ reason: 'x', onEvent: 'go' })
})

/** Overwrites the beginning of every row that holds the text. */
async function overwrite(path: string, text: string): Promise<void> {
  const db = (await loadDriver())(join(path, 'lull.db'))
  const sql = "UPDATE records SET body = '####' || substr(body, 5) WHERE instr(body, ?) > 0"
  const { changes } = db.prepare(sql).run(text)
  db.close()
  expect(Number(changes)).toBe(1)
}

it('L7: a damaged row of the database stops its task alone', async () => {
  const path = await mkdtemp(join(tmpdir(), 'lull-damaged-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  const before = await createSqliteStore({ path })
  const first = await createHarness({ agents: [parks], store: before })
  const bad = await first.send('the one that is damaged')
  const good = await first.send('another')
  for (const { id } of [bad, good]) await first.until(id, 'paused-by-agent')
  await first.engine.drain()
  await before.close()
  await overwrite(path, 'the one that is damaged')

  const after = await createSqliteStore({ path })
  onTestFinished(() => after.close())
  const harness = await createHarness({ ...first.given, store: after })
  await harness.emit('go')
  await harness.until(good.id, 'completed')
  const { tasks } = await harness.engine.list(alice)
  expect(tasks.find(({ id }) => id === bad.id)?.suspension?.reason).toBe('unreadable')
  await expect(harness.tell(bad.id, 'more')).rejects.toMatchObject({ code: 'TASK_UNREADABLE' })
  await harness.until((await harness.send('new')).id, 'paused-by-agent')
  expect(await harness.engine.health()).toMatchObject({ ready: true, store: 'ok', unreadable: 1 })
})
