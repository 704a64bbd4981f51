import { expect, it } from 'vitest'
import { chooseStore, placeOf } from './open-store.ts'

const url = 'postgres://ann:s3cret@db.example.com:5432/lull'

it('takes the file in the data directory when nobody says anything', () => {
  expect(chooseStore([{}, {}], './.lull')).toEqual({ kind: 'sqlite', data: './.lull' })
})

it('takes PostgreSQL when its address is given, and completes the place from the other levels', () => {
  const wishes = [{ postgres: url }, { postgres: { schema: 'mine' } }, { postgres: { url: 'no' } }]
  expect(chooseStore(wishes, '.')).toEqual({
    kind: 'postgres',
    data: '.',
    postgres: { url, schema: 'mine' },
  })
})

it('lets a kind of store win over an address of the same level, and over every lower level', () => {
  expect(chooseStore([{ store: 'memory', postgres: url }], '.').kind).toBe('memory')
  expect(chooseStore([{ store: 'memory' }, { postgres: url }], '.').kind).toBe('memory')
  expect(chooseStore([{ postgres: url }, { store: 'memory' }], '.').kind).toBe('postgres')
})

it('refuses PostgreSQL without an address', () => {
  expect(() => chooseStore([{ store: 'postgres' }], '.')).toThrow(
    /needs the address of the database; give --postgres, or set LULL_POSTGRES/,
  )
})

it('names the place of a database without its password', () => {
  const store = chooseStore([{ postgres: url }], '.')
  expect(placeOf(store)).toBe('PostgreSQL at db.example.com:5432/lull')
  expect(placeOf(chooseStore([], './.lull'))).toBe('./.lull')
})
