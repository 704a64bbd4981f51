/** The SDK's own transports to a server, recorded on the way. */

import * as acp24 from '@agentclientprotocol/sdk'
import { createHttpStream as http24 } from '@agentclientprotocol/sdk/experimental/http-client'
import { createWebSocketStream as ws24 } from '@agentclientprotocol/sdk/experimental/ws-client'
import * as acp19 from 'acp-sdk-1-9'
import { createHttpStream as http19 } from 'acp-sdk-1-9/experimental/http-client'
import { createWebSocketStream as ws19 } from 'acp-sdk-1-9/experimental/ws-client'
import { WebSocket } from 'ws'
import type { Line } from '../../support/acp-schema.ts'
import { type Answers, type Any, connectBuilt, type Peer } from './generations.ts'

export interface Remote extends Peer {
  readonly lines: readonly Line[]
  /** The client goes away without a word. */
  hangUp(): Promise<void>
}

interface Transport {
  readonly name: string
  readonly sdk: Any
  readonly stream: (url: string) => Any
}

const over = { WebSocket: WebSocket as never }
const socketUrl = (url: string): string => `${url.replace(/^http/, 'ws')}/acp`

export const transports: readonly Transport[] = [
  { name: 'WebSocket, 2.4.0', sdk: acp24, stream: (url) => ws24(socketUrl(url), over) },
  { name: 'HTTP, 2.4.0', sdk: acp24, stream: (url) => http24(`${url}/acp`) },
  { name: 'WebSocket, 1.9.0', sdk: acp19, stream: (url) => ws19(socketUrl(url), over) },
  { name: 'HTTP, 1.9.0', sdk: acp19, stream: (url) => http19(`${url}/acp`) },
]

export function connectTo(url: string, { sdk, stream }: Transport, answers: Answers = {}): Remote {
  const lines: Line[] = []
  const { peer, close, closed } = connectBuilt(sdk, recorded(stream(url), lines), answers)
  return {
    ...peer,
    lines,
    async hangUp() {
      close()
      await closed
    },
  }
}

function recorded({ readable, writable }: Any, lines: Line[]): Any {
  const note = (from: Line['from']) =>
    new TransformStream({
      transform(message, controller) {
        lines.push({ from, line: JSON.stringify(message) })
        controller.enqueue(message)
      },
    })
  const outgoing = note('client')
  void outgoing.readable.pipeTo(writable).catch(() => undefined)
  return { readable: readable.pipeThrough(note('agent')), writable: outgoing.writable }
}
