import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { type Identity, owner } from './auth/identity.ts'
import { createBytesInFlight } from './bytes-in-flight.ts'

const caller = (principal: string): Identity => ({ tenant: 'acme', principal, scopes: new Set() })

class Connection extends EventEmitter {
  destroyed = false
  respond(): ServerResponse {
    const outgoing = Object.assign(new EventEmitter(), { req: { socket: this }, destroyed: false })
    return outgoing as unknown as ServerResponse
  }
}
const respond = (): ServerResponse => new Connection().respond()

describe('bytes in flight', () => {
  it('F1: of a caller are limited, and one large answer is always possible', () => {
    const inFlight = createBytesInFlight(100)
    expect(inFlight.hold(caller('ann'), respond(), 150)).toBeUndefined()
    expect(inFlight.hold(caller('ann'), respond(), 1)).toEqual({
      limit: 'bytesInFlight of the principal',
      value: 100,
    })
    expect(inFlight.hold(caller('bob'), respond(), 100)).toBeUndefined()
  })

  it('F1: of all callers together are limited, and the owner by this alone', () => {
    const inFlight = createBytesInFlight(100)
    for (let n = 0; n < 3; n++) expect(inFlight.hold(owner, respond(), 100)).toBeUndefined()
    expect(inFlight.hold(caller('ann'), respond(), 100)).toBeUndefined()
    const reached = { limit: 'bytesInFlight of the server', value: 400 }
    expect(inFlight.hold(owner, respond(), 1)).toEqual(reached)
    expect(inFlight.hold(caller('bob'), respond(), 1)).toEqual(reached)
  })

  it('F2: count until the answer was sent or the connection is gone, and only once', () => {
    const inFlight = createBytesInFlight(100)
    const connection = new Connection()
    const [first, queued] = [connection.respond(), connection.respond()]
    inFlight.hold(caller('ann'), first, 40)
    inFlight.hold(caller('ann'), first, 40)
    inFlight.hold(caller('ann'), queued, 20)
    expect(inFlight.hold(caller('ann'), respond(), 1)).toBeDefined()
    first.emit('close')
    expect(inFlight.hold(caller('ann'), first, 80)).toBeUndefined()
    connection.emit('close')
    connection.emit('close')
    expect(connection.listenerCount('close')).toBe(0)
  })

  it('F2: do not count when the client has disconnected before the answer is ready', () => {
    const inFlight = createBytesInFlight(100)
    const connection = new Connection()
    const [first, queued] = [connection.respond(), connection.respond()]
    inFlight.hold(caller('ann'), first, 10)
    connection.destroyed = true
    connection.emit('close')
    for (const outgoing of [first, queued]) inFlight.hold(caller('ann'), outgoing, 100)
    const over = respond()
    Object.assign(over, { destroyed: true })
    inFlight.hold(caller('ann'), over, 100)
    expect(inFlight.hold(caller('ann'), respond(), 100)).toBeUndefined()
    expect(connection.listenerCount('close')).toBe(0)
  })

  it('F2: of a stream count until they were taken, and not again when it closes', () => {
    const inFlight = createBytesInFlight(100)
    const [stream, other] = [respond(), respond()]
    inFlight.hold(caller('ann'), stream, 100)
    inFlight.free(stream)
    expect(inFlight.hold(caller('ann'), other, 100)).toBeUndefined()
    stream.emit('close')
    inFlight.free(stream)
    expect(inFlight.hold(caller('ann'), respond(), 1)).toBeDefined()
    inFlight.free(respond())
  })
})
