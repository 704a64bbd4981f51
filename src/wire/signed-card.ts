/**
 * The part of an agent card that is signed (A2A 1.0 §8.4): without signatures, and without the members that other programs drop
 * when they read the card: empty texts, lists and objects, and `required: false` of an extension.
 */
type Members = Readonly<Record<string, unknown>>

export function signedPart(card: object): Members {
  const { signatures: _signatures, ...rest } = card as Members
  return (withoutEmpty(withoutDefaults(rest)) ?? {}) as Members
}

function withoutDefaults(card: Members): Members {
  const { capabilities } = card
  if (!isObject(capabilities) || !Array.isArray(capabilities['extensions'])) return card
  const extensions = capabilities['extensions'].map((one: unknown) => {
    if (!isObject(one) || one['required'] !== false) return one
    const { required: _required, ...rest } = one
    return rest
  })
  return { ...card, capabilities: { ...capabilities, extensions } }
}

function withoutEmpty(value: unknown): unknown {
  if (value === '' || value === null || value === undefined) return undefined
  if (Array.isArray(value)) {
    const kept = value.map(withoutEmpty).filter((one) => one !== undefined)
    return kept.length === 0 ? undefined : kept
  }
  if (!isObject(value)) return value
  const kept = Object.entries(value).flatMap(([name, member]) => {
    const one = withoutEmpty(member)
    return one === undefined ? [] : [[name, one]]
  })
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
