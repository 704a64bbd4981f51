/** Messages, their parts, and artifacts. */
import { z } from 'zod'
import type { Artifact, Message, Part } from '../../core/messages/message.ts'
import { list } from './bounded.ts'
import { json } from './json-input.ts'
import { id, jsonObject, text } from './primitives.ts'

const partDetails = {
  mediaType: text.max(256).optional(),
  filename: text.max(1_024).optional(),
  metadata: jsonObject.optional(),
}

export const part: z.ZodType<Part> = z.union(
  [
    z.strictObject({ text, ...partDetails }),
    z.strictObject({ data: json, ...partDetails }),
    z.strictObject({ raw: z.base64(), ...partDetails }),
    z.strictObject({ url: text.min(1), ...partDetails }),
  ],
  { error: 'must have exactly one of text, data, raw (base64) or url' },
) as z.ZodType<Part>

/** The members of an artifact beside its parts. */
type ArtifactFacts = Partial<Pick<Artifact, 'artifactId' | 'name' | 'description' | 'metadata'>>

export const artifactFacts: z.ZodType<ArtifactFacts> = z.object({
  artifactId: id.optional(),
  name: text.optional(),
  description: text.optional(),
  metadata: jsonObject.optional(),
}) as z.ZodType<ArtifactFacts>

export const message: z.ZodType<Message> = z.object({
  messageId: id,
  role: z.enum(['ROLE_USER', 'ROLE_AGENT']),
  parts: list(part, 256, 1),
  contextId: id.optional(),
  taskId: id.optional(),
  referenceTaskIds: list(id, 256).optional(),
  extensions: list(text.max(2_048), 256).optional(),
  metadata: jsonObject.optional(),
}) as z.ZodType<Message>
