/**
 * Makes the second form of the commit function from the text of the first. In the first form each
 * commit names its tenant: one call writes commits of many tenants, which is right where all of
 * them are in one database. In the second form the tenant is one parameter, so that a distributed
 * engine or a proxy sees from the call which part it belongs to, and hands it over whole.
 */

/** A migration with this line has both forms. */
export const TWO_FORMS = '-- The function has two forms'

export function ofOneTenant(sql: string): string {
  return sql
    .replace('.commit_1(', '.commit_of_tenant_1(')
    .replace('p_tenant text[]', 'p_tenant text')
    .replaceAll('unnest(p_tenant, ', 'unnest(')
    .replaceAll('AS u (tenant, ', 'AS u (')
    .replace(/\bu\.tenant\b/g, 'p_tenant')
}
