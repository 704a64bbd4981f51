/**
 * `lull/acp`: the ACP adapter for programs that bring their own server.
 */
export { type Acp, type AcpEnv, type AcpOptions, type AcpUpgrade, createAcp } from './acp.ts'
export type { AcpConfig } from './config.ts'
export type { AcpStore } from './sessions/store.ts'
export { stdioStream } from './transports/stdio.ts'
