/** Reads server-sent events without using the code under test. */
import type { Loose } from './loose.ts'

export interface Frame {
  readonly id: string
  readonly data: Loose
}

export async function* framesIn(response: Response): AsyncGenerator<Frame, void> {
  if (response.body === null) throw new Error('a stream without a body')
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      text += decoder.decode(value, { stream: true })
      let end = text.indexOf('\n\n')
      while (end !== -1) {
        const lines = text.slice(0, end).split('\n')
        text = text.slice(end + 2)
        end = text.indexOf('\n\n')
        const id = lines.find((line) => line.startsWith('id: '))?.slice(4)
        const data = lines.find((line) => line.startsWith('data: '))?.slice(6)
        if (id !== undefined && data !== undefined) yield { id, data: JSON.parse(data) }
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

export async function all(frames: AsyncGenerator<Frame, void>): Promise<readonly Frame[]> {
  const found: Frame[] = []
  for await (const frame of frames) found.push(frame)
  return found
}

export async function take(
  frames: AsyncGenerator<Frame, void>,
  count: number,
): Promise<readonly Frame[]> {
  const found: Frame[] = []
  while (found.length < count) {
    const { done, value } = await frames.next()
    if (done) break
    found.push(value)
  }
  return found
}
