import { expect, it } from 'vitest'
import { artifactLine } from './render.ts'

it('leaves nothing in a media type that could move the cursor', () => {
  const parts = [{ text: 'x', mediaType: '\u001b[2Jtext/plain' }]
  const line = artifactLine({ artifactId: 'a', parts }, (_, text) => text)
  expect(line).toBe('a  ([2Jtext/plain, 1 bytes)')
})
