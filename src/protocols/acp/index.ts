/**
 * `lull/acp`: the ACP adapter for programs that bring their own server.
 */
export { type Acp, type AcpEnv, type AcpOptions, type AcpSocketEnv, createAcp } from './acp.ts'
export type { AcpConfig, AcpStore } from './connection/context.ts'
export type { AcpUpgrade } from './transports/http.ts'
export type { AcpSocket, ReachedLimit, SocketLimits } from './transports/socket-stream.ts'
export { stdioStream } from './transports/stdio.ts'
