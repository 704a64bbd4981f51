import type { Caller } from '../engine/caller.ts'

/** Without authentication everybody is the same person. */
export const anybody: Caller = { tenant: 'default', principal: 'anonymous' }
