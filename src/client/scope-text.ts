/** The scope of a hold, a budget or a rule, in words. */
export function scopeText(given: Readonly<Record<string, unknown>>): string {
  if (given['all'] === true) return 'every task'
  return Object.entries(given)
    .map(([name, value]) => `${name} ${Array.isArray(value) ? value.join(', ') : String(value)}`)
    .join(', ')
}
