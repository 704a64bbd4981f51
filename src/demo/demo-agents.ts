import type { Agent } from '../engine/author/agent.ts'
import { scriptAgent } from '../testing/script-agent/script-agent.ts'
import { builder } from './builder.ts'
import { guide } from './guide.ts'
import { painter } from './painter.ts'
import { travel } from './travel.ts'

/** The agents that `lull demo` serves. The guide is first, so it answers at the root. */
export const demoAgents: readonly Agent[] = [guide, painter, travel, builder, scriptAgent]
