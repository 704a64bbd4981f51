/** Capabilities, commands and options say what the agents behind the connection can, over both versions of ACP. */
import { describe, expect, it } from 'vitest'
import { type Agent, agent } from '../../engine/author/agent.ts'
import { openHarness, prompt } from './test-support/harness.ts'

const worker = (name: string, some: Partial<Agent> = {}): Agent =>
  agent({ name, description: 'works', run: () => 'done', ...some })

const replier = agent({
  name: 'replier',
  description: 'replies and has no tasks',
  receive: (message, { reply }) => reply(message.parts),
})

async function initialized(agents: readonly Agent[]) {
  const harness = await openHarness({ agents })
  const editor = harness.connect()
  const { agentCapabilities } = await editor.request('initialize', { protocolVersion: 1 })
  const { sessionId, configOptions } = await editor.request('session/new', {
    cwd: '/',
    mcpServers: [],
  })
  await expect.poll(() => editor.updates('available_commands_update').length).toBe(1)
  const [{ availableCommands }] = editor.updates('available_commands_update')
  return {
    harness,
    editor,
    sessionId,
    agentCapabilities,
    options: configOptions.map(({ id }: { id: string }) => id),
    commands: availableCommands.map(({ name }: { name: string }) => name),
  }
}

const rfcFields = ['supportsSuspend', 'supportsAwaitResumption', 'resumeCauses']

describe('what is declared', () => {
  it.each<[string, readonly Agent[]]>([
    ['an agent that only replies', [replier]],
    ['an agent with both switched off', [worker('a', { pause: false, reminders: false })]],
  ])('of %s has neither suspending nor reminders', async (_, agents) => {
    const { agentCapabilities, options, commands } = await initialized(agents)
    for (const field of rfcFields) expect(agentCapabilities).not.toHaveProperty(field)
    expect(agentCapabilities._meta.lull).toEqual({})
    expect(options).toEqual([])
    expect(commands).toEqual([])
  })

  it('of an agent without pause has reminders alone', async () => {
    const { agentCapabilities, options, commands } = await initialized([
      worker('a', { pause: false }),
    ])
    for (const field of rfcFields) expect(agentCapabilities).not.toHaveProperty(field)
    expect(Object.keys(agentCapabilities._meta.lull)).toEqual(['reminders'])
    expect(options).toEqual([])
    expect(commands).toEqual(['remind'])
  })

  it('of an agent without reminders has suspending alone', async () => {
    const { agentCapabilities, options, commands } = await initialized([
      worker('a', { reminders: false }),
    ])
    for (const field of rfcFields) expect(agentCapabilities).toHaveProperty(field)
    expect(Object.keys(agentCapabilities._meta.lull)).toEqual(['suspend'])
    expect(options).toEqual(['run_state'])
    expect(commands).toEqual(['suspend', 'resume'])
  })

  it('of several agents is what at least one of them has', async () => {
    const { agentCapabilities, commands, options } = await initialized([replier, worker('a')])
    expect(Object.keys(agentCapabilities._meta.lull)).toEqual(['suspend', 'reminders'])
    expect(agentCapabilities).toMatchObject({ supportsSuspend: true })
    expect(options).toEqual(['run_state', 'agent'])
    expect(commands).toEqual(['suspend', 'resume', 'remind'])
  })

  it('in version 2 is the same', async () => {
    const harness = await openHarness({ agents: [replier] })
    const editor = harness.connect()
    const info = { name: 'test', version: '1' }
    const { capabilities } = await editor.request('initialize', { protocolVersion: 2, info })
    expect(capabilities._meta.lull).toEqual({})
    const created = await editor.request('session/new', { cwd: '/' })
    expect(created).toMatchObject({ configOptions: [], availableCommands: [] })
  })
})

describe('what is not declared', () => {
  it('is no method, whatever its parameters are', async () => {
    const { editor, sessionId } = await initialized([replier])
    for (const [method, capability] of [
      ['_session/suspend', 'pause'],
      ['session/suspend', 'pause'],
      ['_session/inject_reminder', 'reminders'],
    ] as const) {
      for (const params of [{ sessionId }, { nonsense: true }]) {
        await expect(editor.request(method, params)).rejects.toMatchObject({
          code: -32601,
          data: { reason: 'not_offered', capability },
        })
      }
    }
  })

  it('is neither a command nor an option: the text goes to the agent', async () => {
    const { editor, sessionId } = await initialized([replier])
    for (const text of ['/suspend now', '/resume', '/remind me']) {
      await editor.request('session/prompt', prompt(sessionId, text))
    }
    expect(editor.text()).toBe('/suspend now/resume/remind me')
    const params = { sessionId, configId: 'run_state', value: 'suspended-0.1' }
    await expect(editor.request('session/set_config_option', params)).rejects.toMatchObject({
      code: -32602,
      data: { path: 'configId' },
    })
  })
})

describe('a session of an agent without reminders', () => {
  const deaf = worker('deaf', { reminders: false })

  it('takes none while it is idle', async () => {
    const { editor, sessionId } = await initialized([deaf, worker('hears')])
    await expect(
      editor.request('_session/inject_reminder', { sessionId, body: 'be brief' }),
    ).rejects.toMatchObject({ code: -32601, data: { reason: 'not_offered', agent: 'deaf' } })
  })

  it('can be prompted while reminders for another agent are pending', async () => {
    const { editor, sessionId } = await initialized([worker('hears'), deaf])
    const { reminderId } = await editor.request('_session/inject_reminder', {
      sessionId,
      body: 'be brief',
    })
    const choose = (value: string) =>
      editor.request('session/set_config_option', { sessionId, configId: 'agent', value })
    await choose('deaf')
    const first = await editor.request('session/prompt', prompt(sessionId, 'x'))
    expect(first.stopReason).toBe('end_turn')
    await choose('hears')
    const second = await editor.request('session/prompt', prompt(sessionId, 'x'))
    // The reminder reached the second task, and ended with it.
    await expect
      .poll(() => editor.notifications('_session/reminder').at(-1))
      .toMatchObject({
        event: 'expired',
        reminderId,
        _meta: { lull: { taskId: second._meta.lull.taskId } },
      })
  })
})
