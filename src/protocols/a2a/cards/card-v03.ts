/** The agent card of A2A 0.3 (§5.5), with the capability fields of the RFCs beside the standard ones. */
import { resumeCauses } from '../../../core/suspension.ts'
import type { PauseCapabilities } from '../schemas/task-control.ts'
import type { CardSource, SecurityOptions } from './card-options.ts'
import { coreUrl, interfacesAt } from './card-v1.ts'
import { extensionCards, remindersParams } from './extension-cards.ts'

export function cardV03(source: CardSource): object {
  const { name, description, version, url, facts, skills, security } = source
  const { provider, documentationUrl, iconUrl } = facts
  const schemes = schemesV03(security)
  const core = coreUrl(url)
  return {
    protocolVersion: '0.3.0',
    name,
    description,
    version,
    url: core,
    preferredTransport: 'JSONRPC',
    additionalInterfaces: [
      { url: core, transport: 'JSONRPC' },
      { url: core, transport: 'HTTP+JSON' },
    ],
    // Included here too, because a client that names no version may speak 1.0. The official test
    // kit and the Python SDK read this field.
    supportedInterfaces: interfacesAt(url),
    ...(provider === undefined ? {} : { provider }),
    ...(documentationUrl === undefined ? {} : { documentationUrl }),
    ...(iconUrl === undefined ? {} : { iconUrl }),
    capabilities: {
      streaming: true,
      pushNotifications: source.push,
      stateTransitionHistory: false,
      extensions: extensionCards(source, '0.3'),
      ...rfcCapabilities(source),
    },
    ...(Object.keys(schemes).length === 0
      ? {}
      : {
          securitySchemes: schemes,
          security: Object.keys(schemes).map((scheme) => ({ [scheme]: [] })),
        }),
    defaultInputModes: source.inputModes,
    defaultOutputModes: source.outputModes,
    skills,
    supportsAuthenticatedExtendedCard: source.extended,
  }
}

const pauseCapabilities: PauseCapabilities = {
  supportsPause: true,
  supportsAwaitResumption: true,
  resumeCauses,
}

function rfcCapabilities({ pause, reminders, harn }: CardSource): object {
  const meta = {
    ...(pause ? { pause: true } : {}),
    ...(reminders ? { reminders: true } : {}),
  }
  return {
    ...(pause ? pauseCapabilities : {}),
    ...(reminders ? { reminders: remindersParams } : {}),
    ...(harn && (pause || reminders) ? { _meta: { harn: meta } } : {}),
  }
}

function schemesV03(security: SecurityOptions): Record<string, object> {
  const { bearerKeys, mutualTls, apiKey, bearer } = security
  return {
    ...(bearerKeys === true ? { key: bearerV03({}) } : {}),
    ...(mutualTls === true ? { mtls: { type: 'mutualTLS' } } : {}),
    ...(apiKey === undefined
      ? {}
      : { apiKey: { type: 'apiKey', in: 'header', name: apiKey.header } }),
    ...(bearer === undefined ? {} : { bearer: bearerV03(bearer) }),
  }
}

function bearerV03({ format, openIdUrl }: NonNullable<SecurityOptions['bearer']>): object {
  if (openIdUrl !== undefined) return { type: 'openIdConnect', openIdConnectUrl: openIdUrl }
  const bearerFormat = format === undefined ? {} : { bearerFormat: format }
  return { type: 'http', scheme: 'bearer', ...bearerFormat }
}
