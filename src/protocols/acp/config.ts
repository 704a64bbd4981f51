/** The settings of the ACP adapter. */
export interface AcpConfig {
  /**
   * Whether `_meta.harn.suspend` is read and written. Deprecated: use the methods of the extension.
   */
  readonly harnTunnel: boolean
  /**
   * The most HTTP and WebSocket connections of one principal. A tenant may have twice as many, the
   * server four times as many.
   */
  readonly connections: number
}

export const defaultConfig: AcpConfig = {
  harnTunnel: true,
  connections: 256,
}
