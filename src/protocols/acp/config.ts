/** The settings of the ACP adapter. */
export interface AcpConfig {
  /** Reads and writes `_meta.harn.suspend`. Deprecated: use the methods of the extension. */
  readonly harnTunnel: boolean
}

export const defaultConfig: AcpConfig = {
  harnTunnel: true,
}
