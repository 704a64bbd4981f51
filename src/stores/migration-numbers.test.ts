import { expect, it } from 'vitest'
import { readMigrations as ofPostgres } from './postgres/migrate.ts'
import { readMigrations as ofSqlite } from './sqlite/migrate.ts'

it.each([
  ['PostgreSQL', ofPostgres],
  ['SQLite', ofSqlite],
])('the migrations of %s are numbered without gaps, each number once', (_, read) => {
  const numbers = read().map(({ number }) => number)
  expect(numbers).toEqual(numbers.map((_number, index) => index + 1))
})
