/** Loads gRPC with the first call. Programs that never speak it, and bundles for browsers, do not get its packages. */
import { unsupported } from '../client-error.ts'
import type { createGrpcTransport, GrpcTransportOptions } from './grpc-transport.ts'
import type { Transport } from './transport.ts'

/** No literal in the import, so that bundlers leave the module out: it needs `node:http2`. */
const MODULE: string = './grpc-transport.ts'

export function openGrpcTransport(options: GrpcTransportOptions): Transport {
  let loading: Promise<Transport> | undefined

  async function load(): Promise<Transport> {
    let loaded: { readonly createGrpcTransport: typeof createGrpcTransport }
    try {
      loaded = await import(/* @vite-ignore */ /* webpackIgnore: true */ MODULE)
    } catch (error) {
      throw unsupported('a binding that works here: gRPC needs Node, and `lull` unbundled', error)
    }
    return loaded.createGrpcTransport(options)
  }

  function opened(): Promise<Transport> {
    loading ??= load()
    return loading
  }

  return {
    call: async (...given) => (await opened()).call(...given),
    async *stream(...given) {
      yield* (await opened()).stream(...given)
    },
  }
}
