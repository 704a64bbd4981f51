import { describe, expect, it } from 'vitest'
import { productionIn, reduced } from './sbom.mjs'
import { holesIn, installScriptsIn } from './supply-chain.mjs'

describe('the supply chain', () => {
  it('finds production dependencies that run a script at installation, also nested ones', () => {
    const packages = {
      '': { hasInstallScript: true },
      'node_modules/plain': {},
      'node_modules/tool': { hasInstallScript: true, dev: true },
      'node_modules/native': { hasInstallScript: true, optional: true },
      'node_modules/plain/node_modules/@a/deep': { hasInstallScript: true },
    }
    expect(installScriptsIn(packages)).toEqual(['native', '@a/deep'])
  })

  it('takes holes of level high and critical, and no others', () => {
    const hole = (name, severity) => ({ name, severity, range: '<1' })
    const vulnerabilities = { a: hole('a', 'high'), b: hole('b', 'low'), c: hole('c', 'critical') }
    const report = { metadata: { vulnerabilities: {} }, vulnerabilities }
    expect(holesIn(report)).toEqual({ holes: ['a <1: high', 'c <1: critical'] })
  })

  it('does not take a failed question for a clean answer', () => {
    expect(holesIn({ error: { summary: 'offline' } })).toEqual({ unknown: 'offline' })
    expect(holesIn({})).toEqual({ unknown: 'no answer' })
  })
})

describe('the bill of materials', () => {
  const packages = {
    '': { version: '1' },
    'node_modules/a': { version: '1.0.0' },
    'node_modules/@s/b': { version: '2.0.0' },
    'node_modules/tool': { version: '3.0.0', dev: true },
  }

  it('has every production dependency, and what they depend on, and nothing else', () => {
    const wanted = productionIn(packages)
    expect([...wanted]).toEqual(['a@1.0.0', '@s/b@2.0.0'])
    const component = (ref) => ({ 'bom-ref': ref })
    const bill = {
      metadata: { component: component('lull@1') },
      components: ['a@1.0.0', '@s/b@2.0.0', 'tool@3.0.0'].map(component),
      dependencies: [
        { ref: 'lull@1', dependsOn: ['a@1.0.0', 'tool@3.0.0'] },
        { ref: 'a@1.0.0', dependsOn: ['@s/b@2.0.0'] },
        { ref: 'tool@3.0.0', dependsOn: [] },
      ],
    }
    const { components, dependencies } = reduced(bill, wanted)
    expect(components).toHaveLength(2)
    expect(dependencies).toEqual([
      { ref: 'lull@1', dependsOn: ['a@1.0.0'] },
      { ref: 'a@1.0.0', dependsOn: ['@s/b@2.0.0'] },
    ])
  })
})
