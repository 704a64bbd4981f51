import type { ContentBlock } from '@agentclientprotocol/sdk'
import { z } from 'zod'

const mediaType = z.string().max(256)
const mimeType = mediaType.nullable().exactOptional()
const uri = z.string().max(8_192)

/**
 * The schema of a prompt's content. It is stricter than that of the SDK: binary data must be
 * base64, and the number of blocks is limited.
 */
export const contentBlocks: z.ZodType<ContentBlock[]> = z
  .array(
    z.discriminatedUnion('type', [
      z.looseObject({ type: z.literal('text'), text: z.string() }),
      z.looseObject({ type: z.literal('image'), data: z.base64(), mimeType: mediaType }),
      z.looseObject({ type: z.literal('audio'), data: z.base64(), mimeType: mediaType }),
      z.looseObject({
        type: z.literal('resource_link'),
        uri: uri.min(1),
        name: z.string().max(1_024),
        mimeType,
      }),
      z.looseObject({
        type: z.literal('resource'),
        resource: z.union(
          [
            z.looseObject({ uri, text: z.string(), mimeType }),
            z.looseObject({ uri, blob: z.base64(), mimeType }),
          ],
          { error: 'must have text, or blob (base64)' },
        ),
      }),
    ]),
  )
  .max(256)
