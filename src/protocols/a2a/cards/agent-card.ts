/** The agent card in both versions of A2A. */
import { pauseModes, resumeCauses } from '../../../core/suspension.ts'
import type { Version } from '../addresses/versions.ts'
import {
  INPUT,
  RECEIPTS,
  REMINDERS,
  RFC_NOTIFICATIONS,
  TASK_CONTROL,
  USER_CONSENT,
} from '../extensions.ts'
import type { RemindersParams } from '../schemas/reminders.ts'
import type { PauseCapabilities, TaskControlParams } from '../schemas/task-control.ts'
import type { UserConsentParams } from '../schemas/task-metadata.ts'
import type { CardSource, GrpcInterface, SecurityOptions } from './card-options.ts'

/**
 * The card of A2A 1.0 (§4.4.1). It has only fields of the specification, because verifiers of the
 * signature drop others.
 */
export function cardV1(source: CardSource): object {
  return {
    ...commonFields(source),
    supportedInterfaces: interfacesOf(source),
    capabilities: {
      streaming: true,
      pushNotifications: source.push,
      extendedAgentCard: source.extended,
      extensions: extensionCards(source, '1.0'),
    },
    ...schemesOf(source.security, schemesV1, (schemes) => ({
      securityRequirements: schemes.map((scheme) => ({ schemes: { [scheme]: { list: [] } } })),
    })),
  }
}

/** The card of A2A 0.3 (§5.5), with the capability fields of the RFCs beside the standard ones. */
export function cardV03(source: CardSource): object {
  const url = coreUrl(source.url)
  return {
    ...commonFields(source),
    protocolVersion: '0.3.0',
    url,
    preferredTransport: 'JSONRPC',
    additionalInterfaces: [
      { url, transport: 'JSONRPC' },
      { url, transport: 'HTTP+JSON' },
    ],
    // Included here too, because a client that names no version may speak 1.0. The official test
    // kit and the Python SDK read this field.
    supportedInterfaces: interfacesOf(source),
    capabilities: {
      streaming: true,
      pushNotifications: source.push,
      stateTransitionHistory: false,
      extensions: extensionCards(source, '0.3'),
      ...rfcCapabilities(source),
    },
    ...schemesOf(source.security, schemesV03, (schemes) => ({
      security: schemes.map((scheme) => ({ [scheme]: [] })),
    })),
    supportsAuthenticatedExtendedCard: source.extended,
  }
}

function commonFields({ facts, ...source }: CardSource): object {
  const { provider, documentationUrl, iconUrl } = facts
  return {
    name: source.name,
    description: source.description,
    version: source.version,
    ...(provider === undefined ? {} : { provider }),
    ...(documentationUrl === undefined ? {} : { documentationUrl }),
    ...(iconUrl === undefined ? {} : { iconUrl }),
    defaultInputModes: source.inputModes,
    defaultOutputModes: source.outputModes,
    // Optional in A2A, but fasta2a refuses a skill without modes.
    skills: source.skills.map((skill) => ({
      ...skill,
      inputModes: source.inputModes,
      outputModes: source.outputModes,
    })),
  }
}

/** The address for official 0.3 clients. Its answers have only core states. */
function coreUrl(url: string): string {
  return `${url}/core`
}

/** The addresses of an agent, in order of preference. */
function interfacesOf({ url, grpc }: CardSource): readonly object[] {
  const core = coreUrl(url)
  return [
    { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    { url: core, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
    { url: core, protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
    ...(grpc === undefined ? [] : [grpcInterface(grpc)]),
  ]
}

/** The address has neither scheme nor path, and the tenant selects the agent (A2A #1997). */
function grpcInterface({ address, tenant }: GrpcInterface): object {
  return {
    url: address,
    protocolBinding: 'GRPC',
    protocolVersion: '1.0',
    ...(tenant === undefined ? {} : { tenant }),
  }
}

/** How one version of A2A writes each way of authenticating. */
interface SchemeShapes {
  readonly mtls: object
  apiKey(header: string): object
  openId(url: string): object
  bearer(format: { readonly bearerFormat?: string }): object
}

const schemesV1: SchemeShapes = {
  mtls: { mtlsSecurityScheme: {} },
  apiKey: (name) => ({ apiKeySecurityScheme: { location: 'header', name } }),
  openId: (openIdConnectUrl) => ({ openIdConnectSecurityScheme: { openIdConnectUrl } }),
  bearer: (format) => ({ httpAuthSecurityScheme: { scheme: 'Bearer', ...format } }),
}

const schemesV03: SchemeShapes = {
  mtls: { type: 'mutualTLS' },
  apiKey: (name) => ({ type: 'apiKey', in: 'header', name }),
  openId: (openIdConnectUrl) => ({ type: 'openIdConnect', openIdConnectUrl }),
  bearer: (format) => ({ type: 'http', scheme: 'bearer', ...format }),
}

function schemesOf(
  { bearerKeys, mutualTls, apiKey, bearer }: SecurityOptions,
  shapes: SchemeShapes,
  requirements: (schemes: readonly string[]) => object,
): object {
  const bearerScheme = ({ format, openIdUrl }: NonNullable<typeof bearer>): object => {
    if (openIdUrl !== undefined) return shapes.openId(openIdUrl)
    return shapes.bearer(format === undefined ? {} : { bearerFormat: format })
  }
  const securitySchemes = {
    ...(bearerKeys === true ? { key: bearerScheme({}) } : {}),
    ...(mutualTls === true ? { mtls: shapes.mtls } : {}),
    ...(apiKey === undefined ? {} : { apiKey: shapes.apiKey(apiKey.header) }),
    ...(bearer === undefined ? {} : { bearer: bearerScheme(bearer) }),
  }
  const names = Object.keys(securitySchemes)
  return names.length === 0 ? {} : { securitySchemes, ...requirements(names) }
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

/**
 * The parameters of the reminders extension. `capabilities.reminders` of a 0.3 card has the same
 * content.
 */
const remindersParams: RemindersParams = {
  inject: true,
  emit: true,
  propagate: ['session', 'none', 'all'],
  roleHints: ['system', 'developer'],
}

/** The core state that replaces `consent-required`, per version. */
const consentStates: Readonly<Record<Version, (configured: string) => string>> = {
  '1.0': (state) => `TASK_STATE_${state.toUpperCase().replaceAll('-', '_')}`,
  '0.3': () => 'input-required',
}

/**
 * Lull's extensions on a card (A2A 1.0 §4.4.4). None is required, because a required extension
 * excludes clients without it.
 */
function extensionCards(source: CardSource, version: Version): readonly object[] {
  const { input, pause, reminders, consent } = source
  const working = version === '1.0' ? 'TASK_STATE_WORKING' : 'working'
  const control: TaskControlParams = {
    pause: true,
    selfPark: true,
    modes: [...pauseModes].reverse(),
    resumeCauses,
    substateOf: { 'paused-by-client': working, 'paused-by-agent': working },
  }
  const consentState = consentStates[version](source.consentState)
  const consentParams: UserConsentParams = {
    inBand: true,
    substateOf: { 'user-consent-required': consentState },
  }
  const schema = 'The JSON Schema of the first data part of a message that starts a task'
  const frames = 'JSON-RPC notification frames of the PAUSED and reminder RFCs on streams'
  const rows: readonly (readonly [boolean, string, string, object?])[] = [
    [input !== undefined, INPUT, schema, { schema: input }],
    [pause, TASK_CONTROL, 'Pause, resume and self-park of tasks', control],
    [reminders, REMINDERS, 'Ambient reminders for coming turns', remindersParams],
    [consent, USER_CONSENT, 'Explicit consent of the user, bound to one operation', consentParams],
    [consent, RECEIPTS, 'Signed receipts of every stop and wake of a task'],
    [pause || reminders, RFC_NOTIFICATIONS, frames],
  ]
  return rows
    .filter(([isOffered]) => isOffered)
    .map(([, uri, description, params]) => ({
      uri,
      description,
      required: false,
      ...(params === undefined ? {} : { params }),
    }))
}
