/** An editor that speaks ACP with a process: it prompts once, and allows what it is asked. */
import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'

interface Line {
  readonly id?: number | string
  readonly method?: string
  readonly params?: {
    readonly options?: readonly { readonly optionId: string; readonly kind: string }[]
  }
  readonly result?: unknown
  readonly error?: unknown
}

export interface Edited {
  /** The result of the prompt. */
  readonly end: unknown
  readonly updates: readonly unknown[]
}

export async function editing(child: ChildProcess, text: string): Promise<Edited> {
  const updates: unknown[] = []
  const waiting = new Map<number | string, (line: Line) => void>()
  const write = (line: object): void => {
    child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...line })}\n`)
  }
  let count = 0
  const request = async (method: string, params: object): Promise<unknown> => {
    const id = ++count
    const answered = new Promise<Line>((resolve) => {
      waiting.set(id, resolve)
    })
    write({ id, method, params })
    const { result, error } = await answered
    if (error !== undefined) throw new Error(JSON.stringify(error))
    return result
  }
  createInterface({ input: child.stdout ?? process.stdin }).on('line', (text) => {
    const line = JSON.parse(text) as Line
    const { id, method, params } = line
    if (method === 'session/request_permission') {
      const allow = params?.options?.find(({ kind }) => kind.startsWith('allow'))
      write({ id, result: { outcome: { outcome: 'selected', optionId: allow?.optionId } } })
    } else if (method !== undefined) updates.push(params)
    else if (id !== undefined) waiting.get(id)?.(line)
  })
  await request('initialize', { protocolVersion: 1, clientCapabilities: {} })
  const session = { cwd: process.cwd(), mcpServers: [] }
  const { sessionId } = (await request('session/new', session)) as { readonly sessionId: string }
  const end = await request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] })
  return { end, updates }
}
