import { describe, expect, it } from 'vitest'
import { createGuard, isLoopback } from './guard.ts'

describe('on loopback', () => {
  const guard = createGuard({ host: '127.0.0.1' })

  it.each([
    '127.0.0.1:8787',
    '127.0.0.1',
    'localhost:8787',
    'LOCALHOST',
    '[::1]:8787',
    'a.localhost',
  ])('is addressed as %s', (host) => {
    expect(guard(host, undefined)).toBeUndefined()
    expect(guard(host, undefined)).toBeUndefined()
  })

  it.each([
    'evil.example:8787',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '10.0.0.1',
    '',
    ':8787',
  ])('is not addressed as "%s"', (host) => {
    expect(guard(host, undefined)).toMatchObject({ code: 'HOST_NOT_ALLOWED' })
  })

  it('takes calls of its own pages', () => {
    expect(guard('127.0.0.1:8787', 'http://127.0.0.1:8787')).toBeUndefined()
  })

  it.each([
    'http://evil.example',
    'null',
    'http://localhost:8787',
    'http://127.0.0.1:3000',
    'file://',
  ])('takes no calls of pages of %s', (origin) => {
    expect(guard('127.0.0.1:8787', origin)).toMatchObject({ code: 'ORIGIN_NOT_ALLOWED' })
  })
})

describe('where others can reach it', () => {
  const guard = createGuard({
    host: '0.0.0.0',
    allowedHosts: ['Agents.example.com', '.internal'],
    allowedOrigins: ['https://app.example.com/'],
  })

  it.each(['192.168.1.5:8787', 'agents.example.com', 'a.b.internal:80', 'localhost'])(
    'is addressed as %s',
    (host) => {
      expect(guard(host, undefined)).toBeUndefined()
    },
  )

  it('is still not addressed by any name', () => {
    expect(guard('evil.example', undefined)).toMatchObject({ code: 'HOST_NOT_ALLOWED' })
    expect(guard('evilinternal', undefined)).toMatchObject({ code: 'HOST_NOT_ALLOWED' })
  })

  it('takes calls of pages it was told of', () => {
    expect(guard('agents.example.com', 'https://app.example.com')).toBeUndefined()
    expect(guard('agents.example.com', 'http://app.example.com')).toBeDefined()
  })
})

it.each([
  ['localhost', true],
  ['127.0.0.1', true],
  ['127.9.9.9', true],
  ['::1', true],
  ['0.0.0.0', false],
  ['::', false],
  ['192.168.0.1', false],
  ['127.evil.example', false],
])('%s is reached from this machine only: %s', (host, only) => {
  expect(isLoopback(host)).toBe(only)
})
