import { EventEmitter } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { WebSocket } from 'ws'
import { keepAlive } from './acp-sockets.ts'

class Peer extends EventEmitter {
  pings = 0
  ended = false
  ping(): void {
    this.pings++
  }
  terminate(): void {
    this.ended = true
    this.emit('close')
  }
}

function connect(): Peer {
  const peer = new Peer()
  keepAlive(peer as unknown as WebSocket)
  return peer
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('a WebSocket', () => {
  it('is closed when nothing was sent by the first ping', () => {
    const peer = connect()
    vi.advanceTimersByTime(29_999)
    expect(peer.ended).toBe(false)
    vi.advanceTimersByTime(1)
    expect(peer.ended).toBe(true)
  })

  it('stays open as long as pings are answered, and is closed when one is not', () => {
    const peer = connect()
    peer.emit('message')
    for (let n = 1; n <= 100; n++) {
      vi.advanceTimersByTime(30_000)
      peer.emit('pong')
    }
    expect([peer.pings, peer.ended]).toEqual([100, false])
    vi.advanceTimersByTime(60_000)
    expect(peer.ended).toBe(true)
    expect(vi.getTimerCount()).toBe(0)
  })
})
