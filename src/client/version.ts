/** The versions and bindings that this client supports. */
export type Version = '1.0' | '0.3'
export type Binding = 'JSONRPC' | 'HTTP+JSON'

export const versions: readonly Version[] = ['1.0', '0.3']
export const bindings: readonly Binding[] = ['JSONRPC', 'HTTP+JSON']
