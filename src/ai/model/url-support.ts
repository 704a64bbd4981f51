/**
 * Determines which links a model loads itself. The SDK would download the others before the model
 * call, outside of its journaled step.
 */
import type { LanguageModel } from 'ai'
import { modelOf } from './durable-model.ts'

export type TakesUrl = (mediaType: string, url: string) => boolean

/**
 * Decides like the SDK: by patterns of media types such as `image/*`, each with patterns of
 * addresses.
 */
export async function urlSupport(model: LanguageModel): Promise<TakesUrl> {
  const supported = Object.entries((await modelOf(model).supportedUrls) ?? {})
  return (mediaType, url) =>
    isWeb(url) &&
    supported.some(
      ([pattern, addresses]) =>
        mediaType.toLowerCase().startsWith(prefixOf(pattern)) &&
        addresses.some((address) => address.test(url.toLowerCase())),
    )
}

const prefixOf = (pattern: string): string =>
  pattern === '*/*' ? '' : pattern.toLowerCase().replace('*', '')

const isWeb = (url: string): boolean =>
  URL.canParse(url) && ['http:', 'https:'].includes(new URL(url).protocol)
