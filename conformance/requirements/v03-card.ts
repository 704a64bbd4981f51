/** A2A v0.3: the card (kit 0.3.x, mandatory/protocol). */
import { check, has, is, matches, oneOf, refused, shaped } from '../checks.ts'
import type { Case, HttpStep } from '../model.ts'
import { at, list, show } from '../values.ts'
import { must, should } from './define.ts'

const V03 = { versions: ['0.3'] } as const
const V03_CARD = { versions: ['0.3'], bindings: ['card'] } as const

const card = (expect: NonNullable<HttpStep['expect']>, path = 'agent-card.json'): HttpStep => ({
  http: { method: 'GET', origin: true, path: `/.well-known/${path}` },
  expect,
})

const isStrings = (value: unknown) =>
  list(value).length > 0 && list(value).every((item) => typeof item === 'string')

const methods = 'protocol/a2a_v030_new_methods'
const transport = 'protocol/a2a_v030_transport_compliance'
const mandatory = 'protocol/agent_card_mandatory'
const equivalence = 'transport/multi_transport_equivalence'

export const V03_CARDS: readonly Case[] = [
  must('V03-GRPC', '3.2.2', 'gRPC has its service', [], {
    ...V03_CARD,
    covers: [`${methods}::grpc_specific_features`],
    excluded: 'not applicable yet: this runner has no gRPC driver, and Lull no gRPC port',
  }),
  must(
    'V03-CARD',
    '5.5',
    'The card is there, with its fields and their types',
    [
      card([
        is('status', 200),
        matches('headers.content-type', /json/),
        shaped('AgentCard', 'body'),
      ]),
    ],
    {
      ...V03_CARD,
      covers: [
        'protocol/agent_card::agent_card_available',
        'protocol/agent_card::mandatory_fields_present',
        'protocol/agent_card::mandatory_field_types',
        `${mandatory}::agent_card_mandatory_fields`,
        `${mandatory}::agent_card_basic_info_mandatory`,
        `${equivalence}::agent_card_access_equivalence`,
      ],
    },
  ),
  must(
    'V03-CARD-CAPABILITIES',
    '5.5.2',
    'Capabilities are booleans',
    [
      card([
        has('body.capabilities'),
        check('booleans', (got) => {
          const wrong = ['streaming', 'pushNotifications', 'stateTransitionHistory'].find(
            (name) => {
              const value = at(got.body, `capabilities.${name}`)
              return value !== undefined && typeof value !== 'boolean'
            },
          )
          return wrong
        }),
      ]),
    ],
    { ...V03_CARD, covers: [`${mandatory}::agent_card_capabilities_mandatory`] },
  ),
  must(
    'V03-CARD-SKILLS',
    '5.5.4',
    'Skills have id, name, description, tags',
    [
      card([
        check('skills', (got) => {
          const skills = list(at(got.body, 'skills'))
          const wrong = skills.find((skill) =>
            ['id', 'name', 'description', 'tags'].some((name) => at(skill, name) === undefined),
          )
          return skills.length > 0 && wrong === undefined ? undefined : show(skills)
        }),
      ]),
    ],
    { ...V03_CARD, covers: [`${mandatory}::agent_card_skills_mandatory`] },
  ),
  must(
    'V03-CARD-MODES',
    '5.5',
    'Input and output modes are named',
    [
      card([
        check('modes', (got) =>
          isStrings(at(got.body, 'defaultInputModes')) &&
          isStrings(at(got.body, 'defaultOutputModes'))
            ? undefined
            : show(got.body),
        ),
      ]),
    ],
    { ...V03_CARD, covers: [`${mandatory}::agent_card_input_output_modes_mandatory`] },
  ),
  should(
    'V03-CARD-TRANSPORTS',
    '5.6',
    'The main address stands among the interfaces',
    [
      card([
        oneOf('body.preferredTransport', ['JSONRPC', 'HTTP+JSON', 'GRPC', undefined]),
        check('url is in additionalInterfaces', (got) => {
          const all = list(at(got.body, 'additionalInterfaces'))
          const url = at(got.body, 'url')
          return all.length === 0 || all.some((item) => at(item, 'url') === url)
            ? undefined
            : show(all)
        }),
      ]),
    ],
    { ...V03_CARD, covers: [`${transport}::comprehensive_a2a_v030_compliance`] },
  ),
  must(
    'V03-EXTENDED-CARD',
    '7.10',
    'The extended card method exists',
    [
      {
        do: 'extendedCard',
        expect: [
          check('a card, or a refusal that is not "unknown method"', (got) =>
            got.error?.code === -32601 ? show(got.body) : undefined,
          ),
        ],
      },
    ],
    {
      ...V03,
      needs: ['extended-card'],
      covers: [
        `${methods}::authenticated_extended_card_method_exists`,
        'protocol/extended_agent_card::extended_agent_card_endpoint_exists',
        'protocol/extended_agent_card::extended_agent_card_response_format',
      ],
    },
  ),
  must(
    'V03-EXTENDED-CARD-AUTH',
    '7.10',
    'The extended card needs credentials',
    [
      { do: 'extendedCard', expect: [refused] },
      {
        do: 'extendedCard',
        headers: { authorization: 'Bearer not-a-valid-token' },
        expect: [refused],
      },
    ],
    {
      ...V03,
      needs: ['extended-card', 'security'],
      covers: [
        `${methods}::authenticated_extended_card_without_auth`,
        'protocol/extended_agent_card::extended_agent_card_authentication_required',
        'protocol/extended_agent_card::extended_agent_card_invalid_authentication',
        'security/agent_card_security::extended_card_access_controls',
      ],
    },
  ),
  must('V03-EXTENDED-CARD-AUTH', '7.10', 'The extended card is given to who may have it', [], {
    ...V03,
    variant: 'granted',
    covers: [`${methods}::authenticated_extended_card_with_auth`],
    excluded: 'needs credentials of the target: the runner has none (the kit skips it too)',
  }),
]
