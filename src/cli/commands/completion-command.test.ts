import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { commands } from '../all-commands.ts'
import { runCli } from '../run-cli.ts'
import { createFakeIo } from '../test-support/fake-io.ts'

async function scriptFor(shell: string): Promise<string> {
  const io = createFakeIo()
  expect(await runCli(['completion', shell], io)).toBe(0)
  return io.out.join('\n')
}

/** What bash offers for the words, the last of which is being typed. */
async function offered(...words: readonly string[]): Promise<readonly string[]> {
  const line = `COMP_WORDS=(lull ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}`
  const text = `${await scriptFor('bash')}\n${line}; _lull; printf '%s\\n' "\${COMPREPLY[@]}"`
  return execFileSync('bash', ['-c', text], { encoding: 'utf8' }).trim().split('\n')
}

it('offers commands, their second words and their flags in bash', async () => {
  expect(await offered('ho')).toEqual(['hold'])
  expect(await offered('tasks', 'w')).toEqual(['watch'])
  expect(await offered('tasks', 'pause', '--re')).toEqual(['--reason'])
  expect(await offered('send', 'x', '--str')).toEqual(['--stream'])
})

it.each(['zsh', 'fish'])('has every command and flag for %s', async (shell) => {
  const script = await scriptFor(shell)
  for (const { name, flags } of commands) {
    for (const word of name.split(' ')) expect(script).toContain(word)
    for (const flag of Object.keys(flags)) expect(script).toContain(flag)
  }
})

it('names the shells it knows', async () => {
  const io = createFakeIo()
  expect(await runCli(['completion', 'tcsh'], io)).toBe(2)
  expect(io.err.join()).toContain('bash, zsh, fish')
})
