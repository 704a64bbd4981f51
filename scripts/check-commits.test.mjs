import { describe, expect, it } from 'vitest'
import { problemWith } from './check-commits.mjs'

describe('the subject of a commit', () => {
  it.each([
    'fix(engine): keep a hold complete while tasks move',
    'feat!: drop the old names',
    'docs(benchmarks): mark inconclusive experiments',
  ])('is fine as %j', (text) => {
    expect(problemWith(text)).toBeUndefined()
  })

  it.each([
    'What was tried and is not settled is said so',
    'fix(Engine): upper case in a scope',
    'feature: not a type',
    'fix:no space',
    `fix: ${'x'.repeat(70)}`,
  ])('is refused as %j', (text) => {
    expect(problemWith(text)).toBeDefined()
  })
})
