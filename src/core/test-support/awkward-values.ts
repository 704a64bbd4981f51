/** Values that agent code can throw or pass and that break code which looks at them carelessly. For tests only. */

function fail(): never {
  throw new Error('do not look at me')
}

function circle(): object {
  const self: { me?: object; nested: object } = { nested: {} }
  self.me = self
  return self
}

function hostileProxy(target: object): object {
  return new Proxy(target, {
    get: fail,
    has: fail,
    ownKeys: fail,
    getPrototypeOf: fail,
    getOwnPropertyDescriptor: fail,
  })
}

function hostileError(): Error {
  const error = new Error('x')
  for (const name of ['stack', 'name', 'message', 'code', 'details', 'cause']) {
    Object.defineProperty(error, name, { get: fail })
  }
  return error
}

/** By name; each is made anew. */
export const awkwardValues: Readonly<Record<string, () => unknown>> = {
  undefined: () => undefined,
  null: () => null,
  'an empty text': () => '',
  'a symbol': () => Symbol('odd'),
  'a bigint': () => 12n,
  'a function': () => fail,
  'an HTTP response': () => new Response('no', { status: 503, statusText: 'Unavailable' }),
  'an object without a prototype': () => Object.assign(Object.create(null), { a: 1 }),
  'a circular object': circle,
  'a revoked proxy': () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy
  },
  'a proxy that throws': () => hostileProxy({}),
  'a proxy of an error that throws': () => hostileProxy(new Error('x')),
  'an error whose members throw': hostileError,
  'an error with members of other types': () =>
    Object.assign(new Error('x'), {
      message: circle(),
      stack: 1,
      name: Symbol('n'),
      code: circle(),
    }),
  'an error that claims to be ours': () =>
    Object.assign(new Error('x'), { name: 'LullError', code: 'STEP_RESULT', details: circle() }),
  'an object whose toString throws': () => ({ toString: fail, toJSON: fail, valueOf: fail }),
  'an object whose message throws': () => Object.defineProperty({}, 'message', { get: fail }),
  'a very long text': () => 'x'.repeat(1_000_000),
}
