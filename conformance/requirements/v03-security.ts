/** A2A v0.3: authentication, TLS, secrets in the card (kit 0.3.x, mandatory/authentication and mandatory/security). */
import { check, is, isTask, matches, oneOf, refused, state, succeeds } from '../checks.ts'
import type { Case, HttpStep } from '../model.ts'
import { FIRST, get, script, send } from '../steps.ts'
import { at, entries, list, show } from '../values.ts'
import { AUTH } from './auth.ts'
import { must } from './define.ts'

const V03 = { versions: ['0.3'] } as const
const SECURED = { versions: ['0.3'], needs: ['security'] } as const
const V03_CARD = { versions: ['0.3'], bindings: ['card'] } as const
const TLS = { ...V03_CARD, needs: ['https'] } as const

const compliance = 'authentication/auth_compliance_v030'
const enforcement = 'authentication/auth_enforcement'
const inTask = 'security/in_task_authentication'
const cards = 'security/agent_card_security'
const certificates = 'security/certificate_validation'
const tls = 'security/tls_configuration_enhanced'
const security = 'security/transport_security'

const card = (expect: NonNullable<HttpStep['expect']>): HttpStep => ({
  http: { method: 'GET', origin: true, path: '/.well-known/agent-card.json' },
  expect,
})

/** What each kind of scheme must say (0.3 §5.5.3, after OpenAPI). */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  apiKey: ['name', 'in'],
  http: ['scheme'],
  oauth2: ['flows'],
  openIdConnect: ['openIdConnectUrl'],
  mutualTLS: [],
}

const schemesAreWhole = check('schemes are whole', (got) => {
  for (const [name, scheme] of entries(at(got.body, 'securitySchemes'))) {
    const required = REQUIRED[String(at(scheme, 'type'))]
    if (required === undefined) return `${name} has type ${show(at(scheme, 'type'))}`
    const missing = required.find((field) => at(scheme, field) === undefined)
    if (missing !== undefined) return `${name} has no ${missing}`
  }
  return undefined
})

const requirementsAreDeclared = check('security names declared schemes', (got) => {
  const declared = entries(at(got.body, 'securitySchemes')).map(([name]) => name)
  const asked = list(at(got.body, 'security')).flatMap((item) =>
    entries(item).map(([name]) => name),
  )
  return asked.find((name) => !declared.includes(name))
})

const SECRET = /(sk-[A-Za-z0-9]{16,}|-----BEGIN|password"\s*:|"private_key|AKIA[0-9A-Z]{16})/

const asking = send(script([{ auth: 'Sign in' }], {}, 'tck-auth-required'), {
  as: 'first',
  expect: [succeeds],
  assume: [isTask, state('AUTH_REQUIRED')],
})

const fromAuth = (id: string) => AUTH.find((item) => item.id === id)?.steps ?? []

export const V03_SECURITY: readonly Case[] = [
  must(
    'V03-AUTH-SCHEMES',
    '5.5.3',
    'Security schemes are whole and the ones asked for declared',
    [card([schemesAreWhole, requirementsAreDeclared])],
    {
      ...V03_CARD,
      needs: ['security'],
      covers: [
        `${compliance}::security_scheme_structure_compliance`,
        `${compliance}::mutual_tls_scheme_declaration`,
        `${enforcement}::authentication_scheme_consistency`,
        `${cards}::authentication_scheme_validation`,
        `${cards}::security_scheme_consistency`,
      ],
    },
  ),
  must(
    'V03-AUTH-OAUTH',
    '5.5.3',
    'OAuth metadata addresses are https',
    [
      card([
        check('https', (got) => {
          const text = JSON.stringify(at(got.body, 'securitySchemes') ?? {})
          const urls = text.match(/"(?:\w*[uU]rl)":"([^"]+)"/g) ?? []
          return urls.find((url) => url.includes('"http:'))
        }),
      ]),
    ],
    { ...V03_CARD, needs: ['security'], covers: [`${compliance}::oauth2_metadata_url_validation`] },
  ),
  must(
    'V03-AUTH-REQUIRED',
    '4.4',
    'A request without credentials is refused with 401 or 403',
    [{ do: 'get', with: { id: 'any' }, expect: [refused, oneOf('status', [401, 403])] }],
    {
      ...SECURED,
      covers: [
        `${enforcement}::authentication_required_when_declared`,
        `${compliance}::security_error_response_compliance`,
        `${compliance}::authentication_transport_consistency`,
        `${inTask}::authentication_challenge_headers`,
      ],
    },
  ),
  must(
    'V03-AUTH-INVALID',
    '4.4',
    'Wrong credentials are refused',
    [
      {
        do: 'get',
        with: { id: 'any' },
        headers: { authorization: 'Bearer not-a-valid-token' },
        expect: [refused, oneOf('status', [401, 403])],
      },
    ],
    {
      ...SECURED,
      covers: [
        `${enforcement}::invalid_credentials_rejected`,
        `${inTask}::invalid_authentication_handling`,
      ],
    },
  ),
  must(
    'V03-AUTH-INTASK',
    '4.5',
    'A task can ask for authorisation and says why',
    [
      asking,
      get(FIRST, {
        expect: [state('AUTH_REQUIRED'), matches('task.status.message.parts.0.text', /\w/)],
      }),
      { do: 'cancel', with: { id: FIRST }, expect: [succeeds, state('CANCELED')] },
    ],
    {
      ...V03,
      covers: [
        `${inTask}::auth_required_state_support`,
        `${inTask}::in_task_authentication_workflow`,
        `${inTask}::auth_state_transitions`,
      ],
    },
  ),
  must(
    'V03-CARD-PUBLIC',
    '9',
    'The card is public and holds no secrets',
    [card([is('status', 200), check('no secret', (got) => SECRET.exec(got.text)?.[0])])],
    {
      ...V03_CARD,
      covers: [
        `${cards}::public_agent_card_access_control`,
        `${cards}::sensitive_information_protection`,
      ],
    },
  ),
  must('V03-TLS', '4.1', 'The endpoint is https', fromAuth('AUTH-TLS-001'), {
    ...TLS,
    covers: [
      `${security}::https_required_production`,
      `${tls}::tls_implementation_best_practices`,
      `${tls}::tls_security_features`,
    ],
  }),
  must('V03-TLS-VERSION', '4.1', 'TLS is 1.2 or newer', fromAuth('AUTH-TLS-002'), {
    ...TLS,
    covers: [
      `${security}::tls_configuration_security`,
      `${tls}::tls_protocol_version_security`,
      `${tls}::cipher_suite_security_analysis`,
    ],
  }),
  must(
    'V03-TLS-CERTIFICATE',
    '4.2',
    'The certificate chain and name hold',
    fromAuth('AUTH-SERVER-001'),
    {
      ...TLS,
      covers: [
        `${security}::tls_certificate_validation`,
        `${tls}::certificate_chain_validation`,
        `${certificates}::certificate_chain_trust_validation`,
        `${certificates}::hostname_verification`,
      ],
    },
  ),
  must(
    'V03-TLS-HEADERS',
    '4.1',
    'An https card is not to be guessed at',
    [card([is('headers.x-content-type-options', 'nosniff')])],
    { ...TLS, covers: [`${certificates}::certificate_security_headers`] },
  ),
  must(
    'V03-TLS-REDIRECT',
    '4.1',
    'Plain http leads to https or nowhere',
    [
      {
        probe: 'plain http',
        ask: async ({ base }) => {
          const plain = base.replace('https:', 'http:')
          const response = await fetch(plain, { redirect: 'manual' }).catch(() => undefined)
          if (response === undefined || response.status >= 300) return undefined
          return `HTTP ${response.status} over plain http`
        },
      },
    ],
    { ...TLS, covers: [`${security}::http_to_https_redirect`] },
  ),
  must('V03-TLS-CLIENT', '4.2', 'Revoked and invalid certificates are refused', [], {
    ...V03_CARD,
    covers: [
      `${certificates}::certificate_revocation_status`,
      `${certificates}::invalid_certificate_rejection`,
    ],
    excluded: 'a duty of clients: the kit asks foreign test hosts, not the server',
  }),
]
