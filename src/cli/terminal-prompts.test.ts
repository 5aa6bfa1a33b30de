import { PassThrough } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { Interrupted, type Questions } from './prompts.ts'
import { terminalQuestions } from './terminal-prompts.ts'

/** A terminal whose person types a line when the screen shows what they wait for. */
function person(...typed: readonly (readonly [seen: string, keys: string])[]) {
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined })
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 })
  const left = [...typed]
  let screen = ''
  output.on('data', (data: Buffer) => {
    screen += stripVTControlCharacters(data.toString())
    const [next] = left
    if (next === undefined || !screen.includes(next[0])) return
    left.shift()
    screen = ''
    void setImmediate().then(() => input.write(next[1]))
  })
  const abort = new AbortController()
  return { questions: terminalQuestions({ input, output }, abort.signal), abort }
}

const check = (answer: string) => (/^[a-z]+$/.test(answer) ? undefined : 'must be letters')
const name = async (questions: Questions) => questions.text({ message: 'Name?', fallback: 'cluster', check })

test('an answer is typed, or is what it would be anyway', async () => {
  expect(await name(person(['Name?', 'shop \r']).questions)).toBe('shop')
  expect(await name(person(['Name?', '\r']).questions)).toBe('cluster')
})

test('a wrong answer is asked for again', async () => {
  const { questions } = person(['Name?', '1\r'], ['must be letters', '\u007Fshop\r'])
  expect(await name(questions)).toBe('shop')
})

test('a choice is made with the arrows', async () => {
  const choices = [
    { value: 'a', label: 'first' },
    { value: 'b', label: 'second' },
  ] as const
  const select = async (keys: string) =>
    person(['Which?', keys]).questions.select({ message: 'Which?', choices, fallback: 'a' })
  expect(await select('\r')).toBe('a')
  expect(await select('\u001B[B\r')).toBe('b')
})

test('yes and no', async () => {
  const confirm = async (keys: string) =>
    person(['Sure?', keys]).questions.confirm({ message: 'Sure?', fallback: false })
  expect([await confirm('\r'), await confirm('y')]).toEqual([false, true])
})

test('Ctrl-C and the end of the time are interruptions', async () => {
  await expect(name(person(['Name?', '\u0003']).questions)).rejects.toThrow(Interrupted)
  const { questions, abort } = person()
  const asked = name(questions)
  abort.abort()
  await expect(asked).rejects.toThrow(Interrupted)
})
