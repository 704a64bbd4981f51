/**
 * `/auth`: people sign in to the dashboard and out again. Codes, states and cookies are in no log
 * and no referrer.
 */
import type { HttpBindings } from '@hono/node-server'
import type { Context, Hono } from 'hono'
import type { AuthRequest } from '../auth/authenticate.ts'
import type { IdentityOf } from '../auth/gate.ts'
import type { SignIn } from '../auth/sign-in/sign-in.ts'
import { SignInRefused, type Step } from '../auth/sign-in/step.ts'
import { problemPage } from './pages.ts'

const noStore = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }
const RETRY_S = '5'

export function addSignInRoutes(
  app: Hono,
  {
    signIn,
    identityOf,
    url,
  }: {
    readonly signIn?: (() => Promise<SignIn>) | undefined
    readonly identityOf: IdentityOf
    readonly url: string
  },
): void {
  /** Whether people can sign in, and who has. */
  app.get('/auth/session', async (c) => {
    const identity = await (await signIn?.())?.identify(requestOf(c))
    const { tenant, principal } = identity ?? {}
    return c.json({ signIn: signIn !== undefined, tenant, principal }, 200, noStore)
  })
  if (signIn === undefined) return

  app.get('/auth/login', (c) =>
    stepping(async () => {
      const here = new URL(c.req.url)
      // The cookie of the login must be of the host to which the provider sends the browser back.
      if (here.host !== new URL(url).host) {
        return { location: `${url}/auth/login${here.search}`, cookies: [] }
      }
      return (await signIn()).begin(c.req.query('returnTo'))
    }),
  )
  app.get('/auth/callback', (c) =>
    stepping(async () =>
      (await signIn()).finish(new URL(c.req.url).search, c.req.header('cookie')),
    ),
  )
  app.post('/auth/logout', async (c) => {
    const cookie = await (await signIn()).end(identityOf(c))
    return c.body(null, 204, { ...noStore, 'set-cookie': cookie })
  })
}

async function stepping(next: () => Promise<Step>): Promise<Response> {
  try {
    const { location, cookies } = await next()
    const headers = new Headers({ ...noStore, location })
    for (const cookie of cookies) headers.append('set-cookie', cookie)
    return new Response(null, { status: 302, headers })
  } catch (error) {
    if (!(error instanceof SignInRefused)) throw error
    const page = problemPage(error.status, 'You are not signed in', error.message)
    if (error.status === 503) page.headers.set('retry-after', RETRY_S)
    return page
  }
}

function requestOf(c: Context): AuthRequest {
  const { incoming } = c.env as HttpBindings
  return {
    method: c.req.method,
    path: c.req.path,
    header: (name) => c.req.header(name),
    peer: incoming.socket.remoteAddress,
  }
}
