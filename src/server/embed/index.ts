/** `lull/node`: agents inside a server of your own, such as Hono, Express, Fastify, Next or plain Node. */
export {
  type CallerOf,
  type Embedded,
  type EmbedOptions,
  embed,
  embedEngine,
  type FastifyLike,
  type HttpOptions,
  type Next,
} from './embed.ts'
