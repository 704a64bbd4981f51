/** Converts parts of messages to content blocks, and back. */
import type { ContentBlock } from '@agentclientprotocol/sdk'
import type { Part } from '../../../core/messages/message.ts'
import type { Json, JsonObject } from '../../../core/values/json.ts'

export function partOf(block: ContentBlock): Part {
  switch (block.type) {
    case 'text':
      return { text: block.text }
    case 'image':
    case 'audio':
      return { raw: block.data, mediaType: block.mimeType }
    case 'resource_link':
      return {
        url: block.uri,
        filename: block.name,
        ...(block.mimeType == null ? {} : { mediaType: block.mimeType }),
      }
    case 'resource': {
      const { uri, mimeType } = block.resource
      const facts = {
        ...(mimeType == null ? {} : { mediaType: mimeType }),
        metadata: { uri } satisfies JsonObject,
      }
      return 'text' in block.resource
        ? { text: block.resource.text, ...facts }
        : { raw: block.resource.blob, ...facts }
    }
  }
}

/** @param uri ACP requires one for an embedded resource */
export function blockOf(part: Part, uri: string): ContentBlock {
  const { mediaType, filename } = part
  if ('text' in part) return { type: 'text', text: part.text }
  if ('url' in part) {
    return {
      type: 'resource_link',
      uri: part.url,
      name: filename ?? part.url,
      ...(mediaType === undefined ? {} : { mimeType: mediaType }),
    }
  }
  if ('data' in part) {
    const text = JSON.stringify(part.data satisfies Json, null, 2)
    return { type: 'resource', resource: { uri, mimeType: mediaType ?? 'application/json', text } }
  }
  if (mediaType?.startsWith('image/')) {
    return { type: 'image', data: part.raw, mimeType: mediaType }
  }
  if (mediaType?.startsWith('audio/')) {
    return { type: 'audio', data: part.raw, mimeType: mediaType }
  }
  const resource = { uri, blob: part.raw, mimeType: mediaType ?? 'application/octet-stream' }
  return { type: 'resource', resource }
}

export function isBlank(blocks: readonly ContentBlock[]): boolean {
  return blocks.every((block) => block.type === 'text' && block.text.trim() === '')
}
