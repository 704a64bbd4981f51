/**
 * ACP without our server, as `lull/acp`: an engine behind any pair of streams, behind fetch, or behind WebSockets.
 */
export { type Acp, type AcpEnv, type AcpOptions, type AcpUpgrade, createAcp } from './acp.ts'
export type { AcpConfig } from './config.ts'
export type { AcpStore } from './sessions/store.ts'
export { stdioStream } from './transports/stdio.ts'
