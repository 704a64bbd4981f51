import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testEngine } from 'lull/testing'
import { reviewer } from './agents.ts'

test('publishes after an approval, also when the process died meanwhile', async () => {
  const engine = await testEngine({ agents: [reviewer] })
  const { id } = await engine.send('the sea')
  await engine.until(id, 'input-required')
  await engine.crash()
  await engine.answer(id, 'publish')
  const { statusMessage } = await engine.until(id, 'completed')
  assert.deepEqual(statusMessage?.parts, [{ text: 'Published' }])
  await engine.replay(id)
  await engine.close()
})

test('fails when there is no answer for a week', async () => {
  const engine = await testEngine({ agents: [reviewer] })
  const { id } = await engine.send('the sea')
  await engine.until(id, 'input-required')
  await engine.advance('7 days')
  await engine.until(id, 'failed')
  await engine.close()
})
