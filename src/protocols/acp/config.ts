/** What an operator can change about ACP. */
export interface AcpConfig {
  /** The seeds' `_meta.harn.suspend`; deprecated from the start. */
  readonly harnTunnel: boolean
}

export const defaultConfig: AcpConfig = {
  harnTunnel: true,
}
