import { PassThrough } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { Interrupted, type Prompts } from './prompts.ts'
import { createTerminalPrompts } from './terminal-prompts.ts'

/** Creates a fake terminal that types keys when the screen shows the expected text. */
function createTerminal(...typed: readonly (readonly [expected: string, keys: string])[]) {
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined })
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 })
  const remaining = [...typed]
  let screen = ''
  output.on('data', (data: Buffer) => {
    screen += stripVTControlCharacters(data.toString())
    const [next] = remaining
    if (next === undefined || !screen.includes(next[0])) return
    remaining.shift()
    screen = ''
    void setImmediate().then(() => input.write(next[1]))
  })
  const abort = new AbortController()
  return { prompts: createTerminalPrompts({ input, output }, abort.signal), abort }
}

const check = (reply: string) => (/^[a-z]+$/.test(reply) ? undefined : 'must be letters')
const name = async (prompts: Prompts) => prompts.text({ message: 'Name?', fallback: 'cluster', check })

test('a text prompt returns the typed reply, or the fallback for an empty reply', async () => {
  expect(await name(createTerminal(['Name?', 'shop \r']).prompts)).toBe('shop')
  expect(await name(createTerminal(['Name?', '\r']).prompts)).toBe('cluster')
})

test('a text prompt repeats after an invalid reply', async () => {
  const { prompts } = createTerminal(['Name?', '1\r'], ['must be letters', '\u007Fshop\r'])
  expect(await name(prompts)).toBe('shop')
})

test('a select prompt is controlled with arrow keys', async () => {
  const choices = [
    { value: 'a', label: 'first' },
    { value: 'b', label: 'second' },
  ] as const
  const select = async (keys: string) =>
    createTerminal(['Which?', keys]).prompts.select({ message: 'Which?', choices, fallback: 'a' })
  expect(await select('\r')).toBe('a')
  expect(await select('\u001B[B\r')).toBe('b')
})

test('a confirm prompt returns the fallback or the typed reply', async () => {
  const confirm = async (keys: string) =>
    createTerminal(['Sure?', keys]).prompts.confirm({ message: 'Sure?', fallback: false })
  expect([await confirm('\r'), await confirm('y')]).toEqual([false, true])
})

test('Ctrl-C and an abort interrupt a prompt', async () => {
  await expect(name(createTerminal(['Name?', '\u0003']).prompts)).rejects.toThrow(Interrupted)
  const { prompts, abort } = createTerminal()
  const pending = name(prompts)
  abort.abort()
  await expect(pending).rejects.toThrow(Interrupted)
})
