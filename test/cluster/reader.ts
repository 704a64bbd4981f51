/** Reads the stream of a task to its end, from one process after the other. */
import { request } from 'node:http'
import { isTerminal, states } from '../../src/core/states.ts'
import type { Loose } from '../crash/storm/wire.ts'
import type { Chooser } from '../support/chooser.ts'
import { pass } from './calls.ts'

export interface Frame {
  readonly id: string
  readonly data: Loose
}

/** Without a frame for this long, the reader goes to another process. */
const IDLE_MS = 3_000

/** @param urlOf the process to read from next */
export async function readStream(
  urlOf: () => string,
  choose: Chooser,
  taskId: string,
): Promise<readonly Frame[]> {
  const frames: Frame[] = []
  while (!isLast(frames.at(-1))) {
    const most = 1 + choose.below(5)
    const refused = await readSome(urlOf(), taskId, frames, most)
    // A task that has ended has no stream for those who never read of it.
    if (refused && frames.length === 0) break
    await pass(20)
  }
  return frames
}

/** All frames after a position, from one process. */
export async function replay(url: string, taskId: string, after: Frame): Promise<readonly Frame[]> {
  const frames = [after]
  await readSome(url, taskId, frames, Number.POSITIVE_INFINITY)
  return frames
}

/** Adds frames until there are enough of them, or the stream ends. Whether the process refused. */
export function readSome(
  url: string,
  taskId: string,
  frames: Frame[],
  most: number,
): Promise<boolean> {
  const { port } = new URL(url)
  const last = frames.at(-1)?.id
  const headers = {
    'content-type': 'application/json',
    'a2a-version': '1.0',
    ...(last === undefined ? {} : { 'last-event-id': last }),
  }
  const call = { jsonrpc: '2.0', id: 1, method: 'SubscribeToTask', params: { id: taskId } }
  return new Promise((resolve) => {
    const asked = request({ host: '127.0.0.1', port, path: '/', method: 'POST', headers })
    let refused = false
    let text = ''
    let count = 0
    const over = (): void => {
      asked.destroy()
      resolve(refused)
    }
    asked.setTimeout(IDLE_MS, over)
    asked.on('error', over)
    asked.on('response', (response) => {
      const isStream = response.headers['content-type']?.startsWith('text/event-stream') ?? false
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
        if (!isStream) return
        const blocks = text.split('\n\n')
        text = blocks.pop() ?? ''
        for (const frame of blocks.flatMap(parse)) {
          if (count++ < most) frames.push(frame)
        }
        if (count >= most) over()
      })
      response.on('error', over)
      response.on('close', () => {
        refused = !isStream && /"code":-320(01|04)/.test(text)
        over()
      })
    })
    asked.end(JSON.stringify(call))
  })
}

function parse(block: string): readonly Frame[] {
  const lines = block.split('\n')
  const field = (name: string): string | undefined =>
    lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
  const [id, data] = [field('id'), field('data')]
  return id === undefined || data === undefined ? [] : [{ id, data: JSON.parse(data).result }]
}

function isLast(frame: Frame | undefined): boolean {
  const { task, statusUpdate } = frame?.data ?? {}
  const state = String((task ?? statusUpdate)?.status?.state ?? '')
  return hasEnded(state)
}

/** @param state a state as A2A 1.0 spells it */
export function hasEnded(state: string): boolean {
  const word = state.replace('TASK_STATE_', '').toLowerCase()
  return states.some((one) => one === word && isTerminal(one))
}
