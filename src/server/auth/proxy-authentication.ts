/**
 * Accepts the identity that a proxy in front of the server found in a client certificate (mTLS) and
 * sends in a header. Anybody can send a header, so it counts only if it comes from an address of
 * the proxy and occurs once: a proxy that adds its header beside that of a client would let the
 * client choose.
 */
import { BlockList, isIP } from 'node:net'
import { ALL_TENANTS } from '../../engine/caller.ts'
import { StartError } from '../process/start-error.ts'
import type { ProxyConfig } from './auth-config.ts'
import type { Authenticate, AuthRequest } from './authenticate.ts'

const LONGEST_NAME = 256
const TENANT = 'default'

export function createProxyAuthentication(config: ProxyConfig): Authenticate {
  const { principalHeader, tenantHeader, tenant = TENANT, scopes } = config
  const peers = listOf(config.addresses)
  const granted = new Set(scopes)
  return (request) => {
    if (!isPeer(peers, request.peer) || request.header('authorization') !== undefined)
      return undefined
    const principal = onlyValue(request, principalHeader)
    const named = tenantHeader === undefined ? tenant : onlyValue(request, tenantHeader)
    if (principal === undefined || named === undefined || named === ALL_TENANTS) return undefined
    return { tenant: named, principal, scopes: granted }
  }
}

function onlyValue(request: AuthRequest, name: string): string | undefined {
  const [value, ...more] = request.all?.(name.toLowerCase()) ?? []
  if (value === undefined || more.length > 0) return undefined
  return value !== '' && value.length <= LONGEST_NAME ? value : undefined
}

/** @throws StartError for a text that is neither an address nor a network */
function listOf(addresses: readonly string[]): BlockList {
  const list = new BlockList()
  for (const text of addresses) {
    const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
    const kind = isIP(address)
    const longest = kind === 4 ? 32 : 128
    const size = Number(bits ?? longest)
    if (kind === 0 || size > longest) {
      throw new StartError(`auth.proxy.addresses: "${text}" is not an address or a network.`)
    }
    list.addSubnet(address, size, kind === 4 ? 'ipv4' : 'ipv6')
  }
  return list
}

/** A socket for both address families shows an IPv4 peer as `::ffff:10.0.0.1`. */
function isPeer(list: BlockList, given: string | undefined): boolean {
  const address = given?.replace(/^::ffff:(?=\d+\.)/, '') ?? ''
  const kind = isIP(address)
  return kind !== 0 && list.check(address, kind === 4 ? 'ipv4' : 'ipv6')
}
