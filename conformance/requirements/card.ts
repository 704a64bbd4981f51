/** A2A v1.0 §8 and §4.4: the agent card. */

import { check, fails, has, is, matches, refused, shaped, succeeds } from '../checks.ts'
import type { Case, HttpStep } from '../model.ts'
import { canonical, signatureProblem } from '../runner/card-signature.ts'
import { isAddress } from '../shapes.ts'
import { at, list, show } from '../values.ts'
import { CARD, may, must, should } from './define.ts'

type Judged = Pick<HttpStep, 'expect' | 'assume' | 'as'>
const card = (judged: Judged, headers: Record<string, string> = {}): HttpStep => ({
  http: {
    method: 'GET',
    origin: true,
    path: '/.well-known/agent-card.json',
    headers: { 'a2a-version': '1.0', ...headers },
  },
  ...judged,
})

const interfaces = (got: { readonly body: unknown }) => list(at(got.body, 'supportedInterfaces'))

const headerOf = (signature: unknown): unknown =>
  JSON.parse(Buffer.from(String(at(signature, 'protected')), 'base64url').toString('utf8'))

export const CARDS: readonly Case[] = [
  must(
    'CARD-DISC-001',
    '8.1',
    'The card is at its well-known address',
    [
      card({
        expect: [is('status', 200), matches('headers.content-type', /json/), has('body.name')],
      }),
    ],
    CARD,
  ),
  must(
    'CARD-STRUCT-001',
    '4.4.1',
    'The card has its required fields',
    [card({ expect: [shaped('AgentCard', 'body')] })],
    CARD,
  ),
  must(
    'CARD-PROTO-001',
    '8.3',
    'The card declares the protocols',
    [
      card({
        expect: [
          check('every binding is a core one or a URI', (got) => {
            const names = interfaces(got).map((item) => String(at(item, 'protocolBinding')))
            const wrong = names.find((name) => !/^(JSONRPC|GRPC|HTTP\+JSON|\w+:.+)$/.test(name))
            return names.length > 0 && wrong === undefined ? undefined : show(names)
          }),
        ],
      }),
    ],
    CARD,
  ),
  must(
    'CARD-PROTO-002',
    '8.3.1',
    'Every interface has a binding, an absolute address, a version',
    [
      card({
        expect: [
          check('addresses are absolute', (got) => {
            const wrong = interfaces(got).find(
              (item) =>
                !isAddress(at(item, 'url'), at(item, 'protocolBinding')) ||
                at(item, 'protocolVersion') === undefined,
            )
            return wrong === undefined ? undefined : show(wrong)
          }),
        ],
      }),
    ],
    CARD,
  ),
  must(
    'BIND-FIELD-001',
    '5.2',
    'Every declared HTTP interface answers',
    [
      card({ expect: [has('body.supportedInterfaces.0')] }),
      {
        probe: 'declared interfaces answer',
        ask: async ({ card: declared }) => {
          for (const item of list(at(declared, 'supportedInterfaces'))) {
            if (at(item, 'protocolBinding') === 'GRPC') continue
            const url = String(at(item, 'url'))
            const answered = await fetch(url, { method: 'POST', body: '{' }).then(
              (response) => response.status < 500,
              () => false,
            )
            if (!answered) return `nothing answers at ${url}`
          }
          return undefined
        },
      },
    ],
    CARD,
  ),
  should(
    'CARD-CACHE-001',
    '8.6.1',
    'The card says how long it may be kept',
    [card({ expect: [matches('headers.cache-control', /max-age=\d+/)] })],
    CARD,
  ),
  should(
    'CARD-CACHE-002',
    '8.6.1',
    'The card has an ETag that can be asked with',
    [
      card({ as: 'first', expect: [has('headers.etag')] }),
      // fetch adds "no-cache" to a conditional request unless told otherwise, and no server may answer that with 304.
      card(
        { expect: [is('status', 304)] },
        {
          'if-none-match': '{first.headers.etag}',
          'cache-control': 'max-age=0',
        },
      ),
    ],
    CARD,
  ),
  may(
    'CARD-CACHE-003',
    '8.6.1',
    'The card has Last-Modified',
    [card({ expect: [has('headers.last-modified')] })],
    CARD,
  ),
  must(
    'CARD-EXT-001',
    '3.1.11',
    'The extended card needs authentication',
    [{ do: 'extendedCard', expect: [refused] }],
    { needs: ['extended-card', 'security'] },
  ),
  must(
    'CARD-EXT-002',
    '3.1.11',
    'A declared extended card is there, or is NotConfigured',
    [
      {
        do: 'extendedCard',
        expect: [
          check('a card, or the error', (got, context) =>
            succeeds.test(got, context) === undefined
              ? shaped('AgentCard', 'result').test(got, context)
              : fails('ExtendedAgentCardNotConfigured').test(got, context),
          ),
        ],
      },
    ],
    { needs: ['extended-card'] },
  ),
  must(
    'CARD-SIGN-001',
    '8.4.1',
    'The signed text is the card in canonical form (RFC 8785)',
    [
      {
        probe: 'signatures verify',
        ask: ({ card: signed }) => signatureProblem(signed),
      },
    ],
    { ...CARD, needs: ['signatures'] },
  ),
  must(
    'CARD-SIGN-002',
    '8.4.1',
    'The signed text is without the signatures',
    [
      {
        probe: 'signatures verify over the card without them',
        ask: async ({ card: signed }) =>
          canonical(signed).includes('"signatures"') ? signatureProblem(signed) : 'no signatures',
      },
    ],
    { ...CARD, needs: ['signatures'] },
  ),
  must(
    'CARD-SIGN-003',
    '8.4.2',
    'The protected header names algorithm and key',
    [
      card({
        expect: [
          check('alg and kid', (got) => {
            const headers = list(at(got.body, 'signatures')).map(headerOf)
            const wrong = headers.find((header) => !at(header, 'alg') || !at(header, 'kid'))
            return wrong === undefined ? undefined : show(wrong)
          }),
        ],
      }),
    ],
    { ...CARD, needs: ['signatures'] },
  ),
  must('CARD-SIGN-004', '8.4.3', 'Expired or revoked keys are not used to verify', [], {
    ...CARD,
    excluded: 'a duty of clients: nothing a server answers can show it',
  }),
]
