/** The settings of the ACP adapter. */
export interface AcpConfig {
  /** Reads and writes `_meta.harn.suspend`. Deprecated: use the methods of the extension. */
  readonly harnTunnel: boolean
  /** Connections over HTTP and WebSocket that a principal may have open; its tenant twice, the server four times as many. */
  readonly connections: number
}

export const defaultConfig: AcpConfig = {
  harnTunnel: true,
  connections: 256,
}
