import { expect, it } from 'vitest'
import { dependencyOn, projectFiles } from './project-files.ts'

it('a project made from a clone depends on the clone, and one made from an installed package on its version', () => {
  expect(dependencyOn('/home/me/lull')).toBe('file:/home/me/lull')
  expect(dependencyOn('/home/me/app/node_modules/lull')).toMatch(/^\^\d/)
  const made = JSON.parse(projectFiles('app', 'file:/home/me/lull')['package.json'] ?? '')
  expect(made.dependencies).toEqual({ lull: 'file:/home/me/lull' })
})

it('the compose file asks for no variable that has no default', () => {
  const compose = projectFiles('app', '^0.1.0')['compose.yaml'] ?? ''
  expect(compose).not.toContain(':?')
  expect(compose).toContain('LULL_PUBLIC_URL')
})

it('the compose file waits for the database itself, not for the server that prepares it', () => {
  const compose = projectFiles('app', '^0.1.0')['compose.yaml'] ?? ''
  expect(compose).toContain("'pg_isready', '-h', '127.0.0.1'")
  expect(compose.match(/restart: unless-stopped/g)).toHaveLength(2)
})

it('npm install asks nothing about scripts of packages', () => {
  const made = JSON.parse(projectFiles('app', '^0.1.0')['package.json'] ?? '')
  expect(made.allowScripts).toEqual({ '@photostructure/sqlite': true })
})
