import { lull } from '../../../lull.js'

export const dynamic = 'force-dynamic'

export const GET = lull.fetch
export const POST = lull.fetch
