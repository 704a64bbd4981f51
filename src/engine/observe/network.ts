/** The part of an address that one owner has: an IPv4 address, or the first 64 bits of an IPv6 address. */
export function networkOf(address: string | undefined): string | undefined {
  const [plain = ''] = address?.split('%') ?? []
  if (!plain.includes(':')) return address
  // An IPv4 address, as a socket for both families shows it: `::ffff:192.0.2.1`.
  if (plain.includes('.')) return plain.slice(plain.lastIndexOf(':') + 1)
  const [left = [], right = []] = plain.split('::').map((half) => half.split(':').filter(Boolean))
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0')
  const groups = [...left, ...zeros, ...right].map((group) => group.replace(/^0+(?=.)/, ''))
  return `${groups.slice(0, 4).join(':').toLowerCase()}::/64`
}
