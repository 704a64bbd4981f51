import { expect, it } from 'vitest'
import { readSettings } from './settings.ts'

it('has a default for everything', () => {
  expect(readSettings({}, {})).toEqual({
    port: 8787,
    host: '127.0.0.1',
    data: './.lull',
    stores: [{}, { postgres: {} }],
    config: undefined,
    receiptKey: undefined,
    formerReceiptKeys: undefined,
    logLevel: 'info',
  })
})

it('takes the environment over the defaults, and what is given over the environment', () => {
  const env = { PORT: '9000', HOST: '::1', LULL_DATA: '/data', LOG_LEVEL: 'DEBUG' }
  expect(readSettings({ port: 9001 }, env)).toMatchObject({
    port: 9001,
    host: '::1',
    data: '/data',
    logLevel: 'debug',
  })
})

it('counts a variable that is set to nothing as not set', () => {
  expect(readSettings({}, { PORT: '', LULL_RECEIPT_KEY: '' })).toMatchObject({
    port: 8787,
    receiptKey: undefined,
    formerReceiptKeys: undefined,
  })
})

it('takes the public address without its last slash, and refuses what is none', () => {
  const read = (LULL_PUBLIC_URL: string) => readSettings({}, { LULL_PUBLIC_URL }).publicUrl
  expect(read('https://agents.example.com/')).toBe('https://agents.example.com')
  expect(() => read('agents.example.com')).toThrow(/^LULL_PUBLIC_URL: ".*" is not an address/)
})

it.each(['http', '-1', '65536', '80.5', '1e3', ' 80'])(
  'refuses the port "%s" by its name',
  (PORT) => {
    expect(() => readSettings({}, { PORT })).toThrow(/^PORT: ".*" is not a port/)
  },
)

it('refuses a log level it does not know', () => {
  expect(() => readSettings({}, { LOG_LEVEL: 'loud' })).toThrow(/^LOG_LEVEL: "loud"/)
})
