/** Loads gRPC with the first connection of HTTP/2, because most servers never get one. */
import type { Socket } from 'node:net'
import type { Http2Front } from '../http/listen.ts'
import type { GrpcOptions, GrpcServer } from './grpc-server.ts'

export function openGrpc(options: GrpcOptions): Http2Front {
  let loading: Promise<GrpcServer> | undefined
  let server: GrpcServer | undefined
  let isDraining = false

  async function load(): Promise<GrpcServer> {
    const { createGrpcServer } = await import('./grpc-server.ts')
    server = createGrpcServer(options)
    return server
  }

  return {
    take(socket: Socket) {
      if (server !== undefined) return server.take(socket)
      loading ??= load()
      loading.then(
        (loaded) => (isDraining ? socket.destroy() : loaded.take(socket)),
        (error: unknown) => {
          options.log('error', 'gRPC could not be loaded', { error })
          socket.destroy()
        },
      )
    },
    drain() {
      isDraining = true
      server?.drain()
    },
    cut: () => server?.cut(),
  }
}
