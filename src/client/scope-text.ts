const words: Readonly<Record<string, string>> = { contextId: 'context', taskIds: 'task' }

/** The scope of a hold, a budget or a rule, in words. */
export function scopeText(scope: Readonly<Record<string, unknown>>): string {
  if (scope['all'] === true) return 'every task'
  return Object.entries(scope)
    .map(([name, value]) => {
      const of = Array.isArray(value) ? value.join(', ') : String(value)
      return `${words[name] ?? name} ${of}`
    })
    .join(', ')
}
