import { expect, it } from 'vitest'
import { readPlace, readSchema } from './connection.ts'

it.each([
  ['postgres://ann:s3cret@db.example.com/lull', 'ann@db.example.com:5432/lull'],
  ['postgresql://ann@[::1]:6432/lull?sslmode=disable', 'ann@::1:6432/lull'],
  ['postgres://a%40b:p%3A@h/x', 'a@b@h:5432/x'],
])('names the database of %s without its password', (url, name) => {
  expect(readPlace(url, 'postgres').name).toBe(name)
})

it.each(['', 'lull', 'http://ann:s3cret@host/x', 'postgres://ann:s3cret@host:port/x'])(
  'refuses the address "%s" without repeating it',
  (url) => {
    expect(() => readPlace(url, '--postgres')).toThrow(/^--postgres: this is not the address/)
    expect(() => readPlace(url, '--postgres')).not.toThrow(/s3cret/)
  },
)

it.each(['lull', '_x1', 'a'.repeat(40)])('takes the schema %s', (name) => {
  expect(readSchema(name, 'schema')).toBe(name)
})

it.each(['', 'Lull', '1x', 'a-b', 'a"b', 'a'.repeat(41), 'a; DROP SCHEMA x'])(
  'refuses the schema "%s"',
  (name) => {
    expect(() => readSchema(name, 'schema')).toThrow(/^schema: this is not the name/)
  },
)

it.each(['prefer', 'require', 'verify-ca'])('checks the certificate with sslmode=%s', (mode) => {
  const { config } = readPlace(`postgres://u@h/x?a=b&sslmode=${mode}&c=d`, 'postgres')
  expect(config.connectionString).toBe('postgres://u@h/x?a=b&sslmode=verify-full&c=d')
})

it.each(['disable', 'no-verify', 'require&uselibpqcompat=true'])('leaves sslmode=%s', (mode) => {
  const url = `postgres://u@h/x?sslmode=${mode}`
  expect(readPlace(url, 'postgres').config.connectionString).toBe(url)
})

it('says that a file of the address cannot be read', () => {
  const url = 'postgres://u:s3cret@h/x?sslmode=verify-full&sslrootcert=/nowhere/root.pem'
  expect(() => readPlace(url, 'postgres')).toThrow(/^postgres: a file that the address names/)
})
