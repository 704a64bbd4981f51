/**
 * The agent card of A2A 1.0 (§4.4.1). It has only fields of the specification, because verifiers of
 * the signature drop others.
 */
import type { CardSource, SecurityOptions } from './card-options.ts'
import { extensionCards } from './extension-cards.ts'

/** The address for official 0.3 clients. Its answers have only core states. */
export function coreUrl(url: string): string {
  return `${url}/core`
}

/** The addresses of an agent, in order of preference. */
export function interfacesAt(url: string): readonly object[] {
  const core = coreUrl(url)
  return [
    { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    { url: core, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
    { url: core, protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
  ]
}

export function cardV1(source: CardSource): object {
  const { name, description, version, url, facts, skills, security } = source
  const { provider, documentationUrl, iconUrl } = facts
  const schemes = schemesV1(security)
  return {
    name,
    description,
    version,
    supportedInterfaces: interfacesAt(url),
    ...(provider === undefined ? {} : { provider }),
    ...(documentationUrl === undefined ? {} : { documentationUrl }),
    ...(iconUrl === undefined ? {} : { iconUrl }),
    capabilities: {
      streaming: true,
      pushNotifications: source.push,
      extendedAgentCard: source.extended,
      extensions: extensionCards(source, '1.0'),
    },
    ...(Object.keys(schemes).length === 0
      ? {}
      : {
          securitySchemes: schemes,
          securityRequirements: Object.keys(schemes).map((scheme) => ({
            schemes: { [scheme]: { list: [] } },
          })),
        }),
    defaultInputModes: source.inputModes,
    defaultOutputModes: source.outputModes,
    skills,
  }
}

function schemesV1(security: SecurityOptions): Record<string, object> {
  const { bearerKeys, mutualTls, apiKey, bearer } = security
  return {
    ...(bearerKeys === true ? { key: bearerV1({}) } : {}),
    ...(mutualTls === true ? { mtls: { mtlsSecurityScheme: {} } } : {}),
    ...(apiKey === undefined
      ? {}
      : { apiKey: { apiKeySecurityScheme: { location: 'header', name: apiKey.header } } }),
    ...(bearer === undefined ? {} : { bearer: bearerV1(bearer) }),
  }
}

function bearerV1({ format, openIdUrl }: NonNullable<SecurityOptions['bearer']>): object {
  if (openIdUrl !== undefined) {
    return { openIdConnectSecurityScheme: { openIdConnectUrl: openIdUrl } }
  }
  const bearerFormat = format === undefined ? {} : { bearerFormat: format }
  return { httpAuthSecurityScheme: { scheme: 'Bearer', ...bearerFormat } }
}
