/** V8 runs code fast that meets objects of few hidden classes. A hidden class per object costs much of a send. */
import { setFlagsFromString } from 'node:v8'
import { runInThisContext } from 'node:vm'
import { expect, it } from 'vitest'
import { alice, createHarness, message, running } from '../../test-support/engine-harness.ts'

setFlagsFromString('--allow-natives-syntax')
const sameClass: (a: object, b: object) => boolean = runInThisContext(
  '(a, b) => %HaveSameMap(a, b)',
)

/** Paths of the objects inside two equally built values whose hidden classes differ. */
function differing(a: unknown, b: unknown, path: string): readonly string[] {
  if (typeof a !== 'object' || a === null || typeof b !== 'object' || b === null) return []
  const inner = Object.keys(a).flatMap((key) =>
    differing(Reflect.get(a, key), Reflect.get(b, key), `${path}.${key}`),
  )
  return sameClass(a, b) ? inner : [path, ...inner]
}

it('gave the message of every task a hidden class of its own', async () => {
  const harness = await createHarness({
    agents: [running(() => ({ name: 'note', text: 'hello' }))],
  })
  const send = () => harness.engine.send(alice, { message: message('hello') })
  // V8 settles on the classes within the first few objects.
  for (let n = 0; n < 50; n++) await send()
  expect(differing(await send(), await send(), 'sent')).toEqual([])
})
