/**
 * Recognises private addresses, which webhooks may not use: this machine, its network, a cloud's
 * metadata service. Addresses are checked when a connection is made, after DNS, so a name that
 * resolves differently the second time is refused too.
 */
import { lookup as resolve } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { networkInterfaces } from 'node:os'

/**
 * The IANA registries of special-purpose addresses: those that are not globally reachable, and
 * tunnels to them.
 */
const inner = new BlockList()
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  inner.addSubnet(net, bits, 'ipv4')
}
for (const [net, bits] of [
  // IPv4-compatible addresses, including the unspecified address and loopback.
  ['::', 96],
  ['::ffff:0:0:0', 96],
  // NAT64, global and local.
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  // Protocol assignments, including Teredo.
  ['2001::', 23],
  ['2001:db8::', 32],
  // 6to4, which embeds an IPv4 address.
  ['2002::', 16],
  ['3fff::', 20],
  ['5f00::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const) {
  inner.addSubnet(net, bits, 'ipv6')
}

export class TargetRefused extends Error {
  override readonly name = 'TargetRefused'
}

export function isInner(given: string): boolean {
  const kind = isIP(given)
  if (kind === 0) return false
  const address = kind === 6 ? shortest(given) : given
  if (isOwn(address)) return true
  // An IPv4-mapped IPv6 address is checked as the IPv4 address.
  const mapped = /^::ffff:(?:(\d+\.\d+\.\d+\.\d+)|([0-9a-f]{1,4}):([0-9a-f]{1,4}))$/i.exec(address)
  if (mapped !== null) {
    const [, dotted, high = '0', low = '0'] = mapped
    return isInner(dotted ?? dottedOf(Number.parseInt(high, 16), Number.parseInt(low, 16)))
  }
  return inner.check(address, kind === 4 ? 'ipv4' : 'ipv6')
}

/**
 * An IPv6 address without a zone, in the form that URLs use, because it can be written in many
 * ways.
 */
function shortest(address: string): string {
  const [bare = ''] = address.split('%')
  return new URL(`http://[${bare}]`).hostname.slice(1, -1)
}

/** Whether it is an address of this machine, which may be public. */
function isOwn(address: string): boolean {
  return Object.values(networkInterfaces()).some((addresses) =>
    addresses?.some((one) => one.address === address),
  )
}

function dottedOf(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

/**
 * Checks the URL without DNS, and returns why it is refused. Names are checked when they are
 * resolved.
 */
export function refusedTarget(url: URL, allowInner: boolean): string | undefined {
  if (allowInner) return undefined
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase()
  const local = host === 'localhost' || host.endsWith('.localhost')
  return local || isInner(host)
    ? `${host} is a private address, and this server does not send there`
    : undefined
}

/** Like `dns.lookup`, but refuses private addresses. */
export const guardedLookup: LookupFunction = (hostname, options, callback) => {
  resolve(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, [])
    const refused = addresses.find(({ address }) => isInner(address))
    const first = addresses[0]
    if (refused !== undefined || first === undefined) {
      const where = refused?.address ?? 'no address'
      return callback(new TargetRefused(`${hostname} resolves to ${where}, a private address`), [])
    }
    if (options.all) callback(null, addresses)
    else callback(null, first.address, first.family)
  })
}
