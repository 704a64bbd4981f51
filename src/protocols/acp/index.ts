/** ACP without our server: an engine behind any pair of streams. */
export { type Acp, createAcp } from './acp.ts'
export type { AcpConfig } from './config.ts'
export { stdioStream } from './transports/stdio.ts'
